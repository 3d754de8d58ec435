"""What instant a key means, by the definition of its asset or the timetable of its producer."""

from datetime import UTC, datetime

import pytest

from core.models import AssetEvent
from scheduling import dating, listening
from scheduling.algebra.partitions import StaticPartitions
from scheduling.listening import BrokenDefinition
from tests.engine.world import DAILY, asset, dag, emit, part

pytestmark = pytest.mark.django_db
DAYS = {"type": "TimePartitions", "cadence": "day", "start": "2026-01-01"}
LOCAL_DAYS = DAYS | {"timezone": "Asia/Taipei"}


def day(number, hour=0):
    return datetime(2026, 3, number, hour, tzinfo=UTC)


class TestDate:
    def test_comes_from_the_definition_of_the_asset(self):
        assert dating.of_asset(asset("a", partitions=LOCAL_DAYS))("2026-03-10") == day(9, hour=16)

    def test_or_from_the_timetable_of_the_dag_that_writes_it(self):
        dag("d", DAILY, writes=["a"])
        assert dating.of_asset(asset("a"))("2026-03-10") == day(10)

    def test_is_none_for_a_key_of_another_form_and_for_no_key(self):
        date = dating.of_asset(asset("a", partitions=DAYS))
        assert (date("tw"), date(None)) == (None, None)

    def test_is_none_where_nothing_is_defined(self):
        assert dating.of_asset(asset("a"))("2026-03-10") is None


class TestADefinitionThatCannotBeRead:
    @pytest.mark.parametrize("spec", [{"type": "LunarPartitions"}, {"type": "TimePartitions"}, {"kind": 1}])
    def test_keeps_no_event_from_being_recorded(self, spec):
        [registered] = emit(asset("a", partitions=spec).name, "2026-03-10")
        assert AssetEvent.objects.get() == registered.event
        assert part("a", "2026-03-10").partition_date is None

    def test_nor_does_the_timetable_of_a_producer(self):
        dag("d", {"type": "LunarTimetable"}, writes=["a"], is_partitioned=True)
        emit("a", "2026-03-10")
        assert part("a", "2026-03-10").state == "materialized"

    def test_is_named_to_whoever_asks_for_it(self):
        with pytest.raises(BrokenDefinition, match=r"asset a: its partitions cannot be read: .*Lunar"):
            listening.partitions_of(asset("a", partitions={"type": "LunarPartitions"}))


class TestReading:
    def test_happens_once_for_one_definition(self):
        first, second = asset("a", partitions=DAYS), asset("b", partitions=dict(reversed(DAYS.items())))
        assert listening.partitions_of(first) is listening.partitions_of(second)

    def test_a_change_counts_at_once_even_within_one_instant(self):
        row = asset("a", partitions=DAYS)
        assert dating.of_asset(row)("2026-03-10") == day(10)
        row.partitions = LOCAL_DAYS
        assert dating.of_asset(row)("2026-03-10") == day(9, hour=16)
        row.partitions = {"type": "StaticPartitions", "listed": ["2026-03-10"]}
        assert listening.partitions_of(row) == StaticPartitions(["2026-03-10"])
        assert dating.of_asset(row)("2026-03-10") is None

    def test_asks_the_database_nothing(self, django_assert_num_queries):
        row = asset("a", partitions=DAYS)
        with django_assert_num_queries(0):
            dating.of_asset(row)("2026-03-10")
