"""An asset without partitions that has data is there for every key; its events start nothing alone."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import AssetEvent, HeldRun, MappingProblem
from scheduling import holds, runs, wiping
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    asset,
    consumer,
    dag,
    emit,
    finish,
    fired,
    held,
    start,
    turn,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def joined():
    """Waits for a partition of `daily`, and for `config`, which has none."""
    return consumer("joined", {"daily": IDENTITY, "config": IDENTITY})


class TestCost:
    @pytest.mark.parametrize(("name", "count"), [("config", 2), ("config", 40), ("daily", 2), ("daily", 40)])
    def test_any_number_of_events_without_a_key_is_mapped_in_as_many_queries(self, joined, name, count):
        def queries(number):
            emit(name, *[None] * number)
            with CaptureQueriesContext(connection) as found:
                assert holds.route_pending(now=NOW) == number
            return len(found)

        emit("daily", "monday")
        turn()
        queries(1)
        assert queries(count) == queries(1)


class TestOneEvent:
    def test_is_there_for_every_key_that_comes_after_it(self, joined):
        emit("config", None)
        emit("daily", "monday", "tuesday")
        turn()
        assert sorted(fired("joined")) == ["monday", "tuesday"]

    def test_is_there_for_every_key_that_waited_for_it(self, joined):
        emit("daily", "monday", "tuesday")
        turn()
        assert fired("joined") == []
        emit("config", None, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert sorted(fired("joined")) == ["monday", "tuesday"]

    def test_starts_nothing_by_itself(self, joined):
        emit("config", None)
        turn()
        assert not HeldRun.objects.exists()

    def test_is_there_for_all_members_of_a_rollup(self):
        consumer("both", {"hourly": REGIONS, "config": HOURS_TO_DAY | {"window": {"type": "DayWindow"}}})
        emit("config", None)
        emit("hourly", "tw", "jp")
        turn()
        assert held("both", "all").sentence == "waiting on hourly (1 of 3: key us)"

    def test_is_consumed_by_the_run(self, joined):
        emit("config", None)
        emit("config", None)
        emit("daily", "monday")
        turn()
        consumed = HeldRun.objects.get().consumed.values_list("event__asset__name", "event_id")
        newest = AssetEvent.objects.filter(partition_key=None).last()
        assert set(consumed.filter(event__asset__name="config")) == {("config", newest.pk)}
        assert consumed.count() == 2

    def test_is_no_other_for_a_plain_dag_that_is_judged_beside(self, joined):
        """To that one each event is one of its own, and not what is there for every key."""
        plain = dag("plain", {"type": "AssetTimetable", "assets": {"asset": "config"}})
        plain.dependencies.create(asset=asset("config"), leaf={"asset": "config"}, created_at=NOW)
        emit("config", None)
        holds.route_pending(now=NOW)
        emit("daily", "monday")
        emit("config", None)
        holds.route_pending(now=NOW, limit=1)
        holds.judge_due(now=NOW)
        assert HeldRun.objects.get(dag=plain, round=1).consumed.count() == 1
        assert HeldRun.objects.get(dag=joined).consumed.count() == 2

    def test_another_one_makes_nothing_late(self, joined):
        emit("config", None)
        emit("daily", "monday")
        turn()
        emit("config", None, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert fired("joined") == ["monday"]
        assert HeldRun.objects.count() == 1

    def test_only_the_first_wakes_what_is_held(self, joined):
        consumer("three", {"daily": IDENTITY, "config": IDENTITY, "other": IDENTITY})
        emit("daily", "monday")
        emit("config", None)
        turn()
        emit("config", None, at=NOW + MINUTE)
        holds.route_pending(now=NOW + MINUTE)
        assert held("three", "monday").judge_after is None

    def test_taken_back_it_is_there_no_more(self, joined):
        consumer("three", {"daily": IDENTITY, "config": IDENTITY, "other": IDENTITY})
        emit("config", None)
        turn()
        emit("daily", "monday")
        joined.delete()
        turn()
        assert held("three", "monday").sentence == "waiting on other (any key that maps here)"
        wiping.delete_event(AssetEvent.objects.get(partition_key=None), deed=ALICE, at=NOW)
        turn()
        assert "config" in held("three", "monday").sentence


class TestAnAssetWithPartitions:
    def test_is_not_there_for_all_by_an_event_without_a_key(self, joined):
        emit("config", "tuesday")
        emit("config", None)
        emit("daily", "monday")
        turn()
        assert fired("joined") == []
        assert MappingProblem.objects.get().kind == "missing partition key"

    def test_nor_is_one_that_is_defined_to_have_them(self, joined):
        asset("config").partition_set.all().delete()
        row = asset("config")
        row.partitions = {"type": "StaticPartitions", "keys": ["monday"]}
        row.save()
        emit("config", None)
        emit("daily", "monday")
        turn()
        assert fired("joined") == []

    def test_nor_is_one_whose_producer_has_them(self, joined):
        dag("makes", {"type": "PartitionedAtRuntime"}, writes=["config"])
        emit("config", None)
        emit("daily", "monday")
        turn()
        assert fired("joined") == []

    def test_a_run_without_a_key_of_a_plain_dag_makes_none(self, joined):
        """Its event has no key, so its asset has no partitions."""
        emit("daily", "monday")
        turn()
        run = runs.trigger(dag("plain", writes=["config"]), Ask(), deed=ALICE, at=NOW)
        finish(start(run), "config")
        turn()
        assert fired("joined") == ["monday"]


class TestWhatDoesNotCount:
    def test_the_only_asset_of_a_dag_starts_nothing_and_says_so(self):
        consumer("alone", {"config": IDENTITY})
        emit("config", None)
        turn()
        assert MappingProblem.objects.get().dag.dag_id == "alone"

    def test_an_event_of_a_run_without_a_key_has_the_key_of_its_run(self):
        consumer("copy", {"out": IDENTITY})
        run = runs.trigger(
            dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["out"]), Ask("k"), deed=ALICE, at=NOW
        )
        finish(start(run), "out")
        turn()
        assert fired("copy") == ["k"]

    def test_a_manual_run_of_another_key_leaves_what_was_counted(self, joined):
        """1 of 2; a run by hand; still 1 of 2; the event is deleted; 0 of 2."""
        [registered] = emit("daily", "monday")
        turn()
        runs.trigger(joined, Ask("tuesday"), deed=ALICE, at=NOW)
        row = held("joined", "monday")
        assert (row.received_count, row.required_count) == (1, 2)
        wiping.delete_event(registered.event, deed=ALICE, at=NOW)
        turn()
        row.refresh_from_db()
        assert (row.received_count, row.required_count) == (0, 2)
