"""Why has this partition not run? Asked over the API and by command."""

import json

import pytest

from core.models import DagRun
from partitions_site.cli import program
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

DAY = "2026-03-10"


@pytest.fixture
def day(db):
    """A day that waits for the hours 9 and 22, which a Dag makes that has failed at one of them."""
    world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
    made = consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, *(n for n in range(24) if n not in (9, 22))))
    turn()
    return made


def ask(api, query=f"?partition_key={DAY}", dag="sum"):
    return api.get(f"/api/v2/dags/{dag}/explain{query}")


class TestApi:
    def test_names_the_missing_facts_and_who_should_deliver_them(self, api, day):
        found = ask(api).json()
        assert (found["standing"], found["verdict"], found["fires"]) == ("held", "waiting", True)
        assert found["sentence"] == "It is held, waiting on 2 of 24: hours 09, 22."
        assert found["outcome"] == "When that has come it fires at once and becomes a queued run."
        assert [(each["asset_name"], each["partition_key"]) for each in found["facts"]] == [
            ("hourly", hour) for hour in hours(DAY, 9, 22)
        ]
        assert found["facts"][0]["owed_by"] == ["ingest"]
        assert found["held_run_id"] == world.held("sum", DAY).pk
        assert [each["state"] for each in found["rounds"]] == ["held"]

    def test_tells_the_runs_that_were(self, api, day):
        world.holds.fire_now(world.held("sum", DAY), deed=ALICE, at=NOW)
        DagRun.objects.update(state="failed", ended_at=NOW, error="ValueError: no")
        found = ask(api).json()
        assert (found["standing"], found["facts"], found["verdict"]) == ("failed", [], None)
        [run] = found["dag_runs"]
        assert (run["state"], run["error"], run["end_date"]) == (
            "failed",
            "ValueError: no",
            "2026-03-11T09:10:00Z",
        )

    def test_tells_what_is_in_the_way(self, api, day):
        day.is_paused = True
        day.save()
        found = ask(api).json()
        assert found["hindrances"] == [
            {
                "kind": "paused",
                "sentence": "sum is paused: its runs wait until somebody unpauses it.",
                "behind": [],
            }
        ]
        assert found["fires"] is False

    def test_a_key_that_can_never_be_is_an_answer_too(self, api, day):
        found = ask(api, "?partition_key=tomorrow").json()
        assert found["standing"] == "never"
        assert "tomorrow" in found["sentence"]

    def test_no_such_dag(self, api):
        assert ask(api, dag="nothing").status_code == 404

    def test_no_key_where_there_must_be_one(self, api, day):
        answer = ask(api, "")
        assert answer.status_code == 400
        assert answer.json()["detail"] == "say which partition: every run of sum has a partition key"

    def test_no_key_where_there_is_none(self, api):
        made = world.dag("plain", {"type": "AssetTimetable", "assets": {"asset": "a"}})
        world.Dependency.objects.create(dag=made, asset=world.asset("a"), leaf={"asset": "a"}, created_at=NOW)
        found = ask(api, "", "plain").json()
        assert (found["partition_key"], found["facts"][0]["partition_key"]) == (None, "")


class TestCommand:
    def said(self, capsys, *words):
        assert program.main(["explain", *words]) == 0
        return capsys.readouterr().out

    def test_says_the_same_in_words(self, capsys, day):
        assert self.said(capsys, "sum", DAY).splitlines() == [
            f"sum {DAY}: held",
            "It is held, waiting on 2 of 24: hours 09, 22.",
            "  missing: hourly 2026-03-10T09:00:00, no expected time; made by ingest",
            "  missing: hourly 2026-03-10T22:00:00, no expected time; made by ingest",
            "When that has come it fires at once and becomes a queued run.",
            "  round 1: held",
        ]

    def test_keys_that_are_owed_alike_are_one_line(self, capsys):
        world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", f"{DAY}T05:00:00")
        turn()
        assert self.said(capsys, "sum", DAY).splitlines()[2] == (
            "  missing: 23 of hourly: hours 00–04, 06–23, no expected time; made by ingest"
        )

    def test_says_as_json_what_the_api_says(self, capsys, api, day):
        assert json.loads(self.said(capsys, "sum", DAY, "--json")) == ask(api).json()

    def test_what_could_not_be_counted_is_told(self, capsys):
        made = consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "tw")
        made.mapping_problems.create(
            event=world.AssetEvent.objects.get(), kind="failed to map partition_key", sentence="no", at=NOW
        )
        assert "could not be counted: tw of a: no" in self.said(capsys, "meet", "tw")

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [(["nothing", "x"], "no Dag is called nothing"), (["sum"], "say which partition")],
    )
    def test_says_what_cannot_be_explained(self, capsys, day, words, sentence):
        assert program.main(["explain", *words]) == 1
        assert sentence in capsys.readouterr().err
