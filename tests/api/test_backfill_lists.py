"""Backfills and their partitions, listed."""

import pytest

from core.models import Backfill, DagRun
from tests.api.backfilling import URL, begun
from tests.backfills.play import counts, daily, days, drive, listener, producer
from tests.engine.world import emit

pytestmark = pytest.mark.django_db


class TestPartitions:
    def test_say_what_each_key_came_to_and_why(self, api, load):
        emit("days", "2026-03-01")
        found = begun(api, selection="[2026-03-01...2026-03-03]")
        row = Backfill.objects.get()
        drive(row, at=row.created_at, fail=["2026-03-02"])
        rows = api.get(f"{URL}/{found['id']}/partitions").json()["partitions"]
        assert [(each["partition_key"], each["state"], each["reason"]) for each in rows] == [
            ("2026-03-01", "skipped", "it has data"),
            ("2026-03-02", "failed", "boom: no disk"),
            ("2026-03-03", "done", ""),
        ]
        assert rows[0]["dag_run_id"] is None
        assert rows[1]["dag_run_id"] == DagRun.objects.get(partition_key="2026-03-02").run_id
        assert counts(row) == {"planned": 3, "done": 1, "failed": 1, "skipped": 1}

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("state=ready", days(1, 10)),
            ("state=done", []),
            ("partition_key=2026-03-05", ["2026-03-05"]),
            ("partition_key_prefix_pattern=2026-03-0&limit=2", days(1, 2)),
            ("order_by=-position&limit=2", ["2026-03-10", "2026-03-09"]),
            ("dag_id=load&limit=1", ["2026-03-01"]),
            ("dag_id=other", []),
        ],
    )
    def test_are_narrowed_and_ordered(self, api, load, query, found):
        pk = begun(api, selection="*")["id"]
        rows = api.get(f"{URL}/{pk}/partitions?{query}").json()["partitions"]
        assert [row["partition_key"] for row in rows] == found

    def test_are_paged_by_cursor(self, api, load):
        pk = begun(api, selection="*")["id"]
        first = api.get(f"{URL}/{pk}/partitions?cursor=&limit=6").json()
        second = api.get(f"{URL}/{pk}/partitions", {"cursor": first["next_cursor"], "limit": 6}).json()
        assert len(first["partitions"]) + len(second["partitions"]) == 10

    def test_cost_the_same_for_many_as_for_few(self, api, load, django_assert_max_num_queries):
        pk = begun(api, selection="*")["id"]
        with django_assert_max_num_queries(4):
            assert len(api.get(f"{URL}/{pk}/partitions?limit=100").json()["partitions"]) == 10


class TestList:
    @pytest.fixture
    def several(self, api):
        producer("a", "as"), producer("b", "bs")
        return [
            begun(api, dag_id=dag_id, partition_keys=[key])["id"]
            for dag_id, key in (("a", "2026-03-01"), ("b", "2026-03-01"), ("a", "2026-03-02"))
        ]

    def test_needs_a_dag(self, api, several):
        answer = api.get(URL)
        assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["query", "dag_id"])

    @pytest.mark.parametrize(
        ("query", "places"),
        [
            ("dag_id=a", [0, 2]),
            ("dag_id=a&order_by=-id", [2, 0]),
            ("dag_id=~", [0, 1, 2]),
            ("dag_id=nope", []),
            ("dag_id=a&active=true", [2]),
            ("dag_id=a&active=false", [0]),
        ],
    )
    def test_is_of_that_dag(self, api, several, query, places):
        api.put(f"{URL}/{several[0]}/cancel")
        found = api.get(f"{URL}?{query}").json()
        assert [row["id"] for row in found["backfills"]] == [several[place] for place in places]
        assert found["total_entries"] == len(places)

    def test_needs_the_same_queries_for_many_as_for_one(self, api, several, django_assert_max_num_queries):
        with django_assert_max_num_queries(4):
            assert len(api.get(f"{URL}?dag_id=~").json()["backfills"]) == 3

    def test_a_consumer_in_it_is_found_as_well(self, api):
        daily("as"), daily("bs")
        producer("first", "as")
        listener("second", "as", "bs")
        made = begun(api, dag_id="first", partition_keys=["2026-03-01"], with_downstream=True)
        [found] = api.get(f"{URL}?dag_id=second").json()["backfills"]
        assert (found["id"], found["dag_ids"]) == (made["id"], ["first", "second"])
