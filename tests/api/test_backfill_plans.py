"""Plans of backfills over the API, which write nothing."""

import pytest

from core.models import Backfill
from partitions_site.api import backfill_plans
from tests.api.backfilling import HOURS, URL, keys, planned
from tests.backfills.play import daily, days, listener, producer
from tests.engine.world import DAILY, dag, emit

pytestmark = pytest.mark.django_db


class TestDryRun:
    def test_names_the_keys_that_would_run_and_the_plan(self, api, load):
        found = planned(api, selection="[2026-03-01...2026-03-03]")
        assert keys(found) == days(1, 3)
        assert found["total_entries"] == 3
        assert found["backfills"][0] == {
            "logical_date": None,
            "dag_id": "load",
            "partition_key": "2026-03-01",
            "partition_date": None,
        }
        assert found["parts"] == [
            {
                "dag_id": "load",
                "layer": 0,
                "count": 3,
                "first_key": "2026-03-01",
                "last_key": "2026-03-03",
                "waiting_count": 0,
                "skipped_count": 0,
                "skipped": [],
            }
        ]
        assert not Backfill.objects.exists()

    def test_says_why_keys_are_left_out(self, api, load):
        emit("days", "2026-03-01", "2026-03-02")
        [part] = planned(api, selection="[2026-03-01...2026-03-03]")["parts"]
        assert (part["count"], part["skipped_count"]) == (1, 2)
        assert part["skipped"] == [{"reason": "it has data", "count": 2}]

    def test_offers_to_make_first_what_a_consumer_lacks(self, api):
        daily("as"), daily("bs")
        producer("first", "as")
        listener("second", "as", "bs")
        found = planned(api, dag_id="second", partition_keys=["2026-03-01"])
        assert (found["total_entries"], found["offers"]) == (
            0,
            [{"dag_id": "first", "count": 1, "partition_keys": ["2026-03-01"]}],
        )
        both = planned(api, dag_id="second", partition_keys=["2026-03-01"], with_upstream=True)
        assert [row["dag_id"] for row in both["backfills"]] == ["first", "second"]
        assert [part["waiting_count"] for part in both["parts"]] == [0, 1]

    def test_names_some_of_very_many(self, api, load, monkeypatch):
        monkeypatch.setattr(backfill_plans, "MOST_ROWS", 2)
        found = planned(api, selection="[2026-03-01...2026-03-05]")
        assert (keys(found), found["total_entries"]) == (days(1, 2), 5)

    def test_of_dates_of_hours_that_hit_nothing_is_empty(self, api, lab):
        body = HOURS | {"from_date": "2026-02-18T00:10:00Z", "to_date": "2026-02-18T00:20:00Z"}
        assert planned(api, **body)["total_entries"] == 0

    @pytest.mark.parametrize(
        ("body", "status", "words"),
        [
            (
                {"selection": "[2026-03-05...2026-03-01]"},
                400,
                "the range starts after its end (character 1 of",
            ),
            ({"selection": "[2026-03-01..."}, 400, "(character 15 of"),
            ({"selection": "[2020-01-01...2020-02-01]"}, 400, "the nearest"),
            (
                {"partition_keys": ["2026-02-30"]},
                400,
                "not among days from 2026-03-01 to before 2026-03-11 (UTC): '2026-02-30'",
            ),
            ({"partition_keys": ["a", "b"], "selection": "*"}, 400, "not several of them"),
            ({"keys_per_run": None}, 422, None),
            ({"selection": "*", "keys_per_run": None}, 400, "a run of Dag load takes one key"),
            ({"dag_id": "nope", "selection": "*"}, 404, "nope"),
            ({"dag_ids": ["load"], "selection": "*"}, 400, "not both"),
            ({"states": "green"}, 422, None),
            ({"selection": "*", "max_active_runs": 0}, 422, None),
            ({"partition_keys": []}, 422, None),
            ({"partition_keys": [" "]}, 422, None),
            ({"selection": 7}, 422, None),
            ({"selection": "*", "colour": "red"}, 422, None),
        ],
    )
    def test_refuses_what_cannot_be(self, api, load, body, status, words):
        found = planned(api, status, **body)
        assert words is None or words in found["detail"]

    def test_of_a_dag_without_keys_is_refused(self, api, lab):
        found = planned(api, 400, dag_id="lab_plain", selection="*")
        assert "is not partitioned" in found["detail"]

    @pytest.mark.parametrize("how", ["dry_run", ""])
    def test_of_more_than_it_can_hold_is_refused(self, api, how):
        """The end that was meant to be open: 4.2 billion minutes until then."""
        dag("minutely", DAILY | {"cron": "* * * * *"})
        body = {"dag_id": "minutely", "from_date": "2026-06-01T00:00:00Z", "to_date": "9999-12-31T23:59:59Z"}
        answer = api.post(f"{URL}/{how}".rstrip("/"), body)
        assert answer.status_code == 422
        assert "too many for one plan: select 1,000,000 at most" in answer.json()["detail"]
        assert not Backfill.objects.exists()
