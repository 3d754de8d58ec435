"""Runs that people start by hand: the form, and what becomes of it."""

import re
from datetime import timedelta

import pytest

from core.models import Asset, DagRun, HeldRun
from scheduling import runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    LOCAL_DAY,
    NOW,
    RUNTIME,
    consumer,
    emit,
    hours,
    turn,
)
from tests.web.reading import read

pytestmark = pytest.mark.django_db


class TestForm:
    def test_hints_at_the_format_and_suggests_keys(self, visitor):
        days = {"start_date": NOW - timedelta(days=4), "end_date": NOW}
        world.dag("nightly", LOCAL_DAY, writes=["daily"], **days)
        page = read(visitor.get("/trigger?dag=nightly"))
        assert "Written as %Y-%m-%d" in page.text
        assert page.all("option", value="2026-03-08")
        assert page.links["2026-03-08"] == "/trigger?dag=nightly&key=2026-03-08"

    def test_hints_at_the_format_with_the_key_of_the_next_tick(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        text = read(visitor.get("/trigger?dag=nightly")).text
        assert re.search(r"Written as \d{4}-\d\d-\d\d \( ?%Y-%m-%d ?\)", text)

    def test_is_filled_from_the_address(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        page = read(visitor.get("/trigger?dag=nightly&key=2026-03-08"))
        assert page.fields["key"] == "2026-03-08"
        assert "Sunday 8 March 2026" in page.text

    def test_leads_back_to_where_it_was_asked_from_also_after_a_mistake(self, visitor):
        world.dag("nightly", LOCAL_DAY, writes=["daily"], start_date=NOW - timedelta(days=4), end_date=NOW)
        address = "/trigger?dag=nightly&back=%2Fheld%3Frun%3D7"
        said = {"dag": "nightly", "key": "8.3.2026", "note": "asked for by phone"}
        for page in map(read, (visitor.get(address), visitor.post(address, said))):
            [form] = page.all("form", class_="form")
            assert form.attributes["action"] == "/trigger?back=%2Fheld%3Frun%3D7"
            assert page.links["No, go back"] == "/held?run=7"
            for words in ("2026-03-08", "Several keys at once"):
                assert page.links[words].endswith("&back=%2Fheld%3Frun%3D7")
        assert page.fields["note"] == "asked for by phone"
        said["key"] = "2026-03-08"
        assert visitor.post(form.attributes["action"], said).headers["Location"] == "/held?run=7"

    @pytest.mark.parametrize(
        ("schedule", "asks", "must"), [(LOCAL_DAY, True, True), (RUNTIME, True, False), (None, False, False)]
    )
    def test_asks_for_a_key_if_runs_have_one(self, visitor, schedule, asks, must):
        world.dag("it", schedule)
        page = read(visitor.get("/trigger?dag=it"))
        assert bool(page.all("input", name="key")) == asks
        assert bool([each for each in page.all("input", name="key") if "required" in each.attributes]) == must

    def test_a_dag_that_is_gone_cannot_be_triggered(self, visitor):
        world.dag("old", LOCAL_DAY, is_active=False)
        page = read(visitor.get("/trigger?dag=old"))
        [button] = page.all("button", aria_disabled="true")
        assert page.all("span", id=button.attributes["aria-describedby"])[0].text == (
            "Nothing defines this Dag any more."
        )
        assert "Nothing defines this Dag any more" in page.text


class TestTrigger:
    def test_makes_a_run_for_the_key(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        response = visitor.post("/trigger", {"dag": "nightly", "key": "2026-03-10", "note": "once more"})
        run = DagRun.objects.get()
        assert response["Location"] == f"/runs/{run.pk}"
        assert (run.partition_key, run.run_type, run.created_by) == ("2026-03-10", "manual", "operator")
        assert run.note == "once more"

    def test_a_wrong_key_makes_no_run_and_says_the_right_form(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        response = visitor.post("/trigger", {"dag": "nightly", "key": "10.3.2026"})
        assert response.status_code == 422
        page = read(response)
        assert "%Y-%m-%d" in page.all("p", role="alert")[0].text
        assert page.fields["key"] == "10.3.2026"
        assert DagRun.objects.count() == 0

    def test_a_missing_key_makes_no_run(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        response = visitor.post("/trigger", {"dag": "nightly", "key": ""})
        assert response.status_code == 422
        assert "say for which partition key" in read(response).text

    def test_blanks_are_no_key_and_no_run_without_one(self, visitor):
        world.dag("it", RUNTIME)
        response = visitor.post("/trigger", {"dag": "it", "key": "   "})
        assert response.status_code == 422
        assert "leave the field empty for a run without one" in read(response).text
        assert DagRun.objects.count() == 0

    def test_a_key_that_is_too_long_is_told_so_and_not_cut(self, visitor):
        world.dag("it", RUNTIME)
        page = read(visitor.get("/trigger?dag=it"))
        assert "maxlength" not in page.all("input", name="key")[0].attributes
        response = visitor.post("/trigger", {"dag": "it", "key": "x" * 251})
        assert response.status_code == 422
        assert "250 characters" in read(response).text

    def test_the_same_form_sent_twice_makes_one_run(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        form = read(visitor.get("/trigger?dag=nightly&key=2026-03-10")).fields
        first, second = visitor.post("/trigger", form), visitor.post("/trigger", form)
        assert first["Location"] == second["Location"]
        assert DagRun.objects.count() == 1

    @pytest.mark.parametrize("other", [{"key": "2026-03-11"}, {"conf": '{"full": true}'}])
    def test_the_form_that_a_browser_goes_back_to_asks_for_something_else(self, visitor, other):
        world.dag("nightly", LOCAL_DAY)
        form = read(visitor.get("/trigger?dag=nightly&key=2026-03-10")).fields
        first = visitor.post("/trigger", form)
        second, again = (visitor.post("/trigger", form | {"on_purpose": "yes"} | other) for _ in range(2))
        assert second["Location"] == again["Location"] != first["Location"]
        assert DagRun.objects.count() == 2

    def test_an_id_of_the_form_that_no_database_keeps_is_cut(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        form = {"dag": "nightly", "several": "yes", "key": "2026-03-10\n2026-03-11", "run_id": "x" * 251}
        visitor.post("/trigger", form)
        assert DagRun.objects.filter(run_id__startswith="x").count() == 2

    def test_several_keys_make_a_run_each(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        assert "Partition keys, one a line" in read(visitor.get("/trigger?dag=nightly&several=yes")).text
        form = {"dag": "nightly", "several": "yes", "run_id": "mine", "key": "2026-03-10\r\n\n2026-03-11 "}
        answers = [visitor.post("/trigger", form)["Location"] for _ in range(2)]
        assert answers == ["/runs?dag=nightly"] * 2
        assert list(DagRun.objects.values_list("partition_key", flat=True).order_by("pk")) == [
            "2026-03-10",
            "2026-03-11",
        ]

    def test_one_wrong_key_of_several_makes_no_run(self, visitor):
        world.dag("nightly", LOCAL_DAY)
        answer = visitor.post(
            "/trigger", {"dag": "nightly", "several": "yes", "key": "2026-03-10\n10.3.2026"}
        )
        assert answer.status_code == 422
        assert read(answer).all("textarea")[0].text == "2026-03-10 10.3.2026"
        assert DagRun.objects.count() == 0

    def test_very_many_keys_are_a_backfills(self, visitor):
        world.dag("nightly", {"type": "PartitionedAtRuntime"})
        keys = "\n".join(map(str, range(101)))
        answer = visitor.post("/trigger", {"dag": "nightly", "several": "yes", "key": keys})
        assert "101 keys are more than 100: plan a backfill" in read(answer).text

    @pytest.mark.parametrize(
        ("key", "doubt"),
        [
            ("2999-01-01", "Its period has not begun yet."),
            ("2026-03-10", "A run for it is queued already."),
            ("2026-01-01", "It is none of the keys that daily, which nightly writes, should have."),
        ],
    )
    def test_a_key_that_may_be_a_mistake_runs_only_on_purpose(self, visitor, key, doubt):
        made = world.dag("nightly", LOCAL_DAY, writes=["daily"])
        daily = {"type": "TimePartitions", "cadence": "day", "start": "2026-03-01", "end": "2026-04-01"}
        Asset.objects.filter(name="daily").update(partitions=daily)
        runs.trigger(made, Ask("2026-03-10"), deed=ALICE, at=NOW)
        assert doubt in read(visitor.get(f"/meaning?dag=nightly&key={key}")).text
        answer = visitor.post("/trigger", {"dag": "nightly", "key": key})
        assert answer.status_code == 422
        assert f"{key}: {doubt[0].lower()}{doubt[1:]}" in read(answer).text
        visitor.post("/trigger", {"dag": "nightly", "key": key, "on_purpose": "yes"})
        assert DagRun.objects.count() == 2

    def test_settles_the_held_run_unless_told_not_to(self, visitor):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1))
        turn()
        asked = {"dag": "sum", "asked_to_settle": "yes"}
        visitor.post("/trigger", {**asked, "key": "2026-03-09", "settle": "yes"})
        visitor.post("/trigger", {**asked, "key": "2026-03-10"})
        assert list(HeldRun.objects.held().values_list("partition_key", flat=True)) == ["2026-03-10"]

    def test_a_dag_without_keys_runs_without(self, visitor):
        world.dag("report")
        visitor.post("/trigger", {"dag": "report"})
        assert DagRun.objects.get().partition_key is None

    def test_any_key_a_consumer_can_read_goes_through_unchanged(self, visitor):
        consumer("copy", {"orders": IDENTITY})
        key = "tw|2026-03-10T09:00:00 <b>&amp;"
        visitor.post("/trigger", {"dag": "copy", "key": key})
        run = DagRun.objects.get()
        assert run.partition_key == key
        assert read(visitor.get(f"/runs/{run.pk}")).all("h1")[0].text == key
