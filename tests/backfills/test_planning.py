"""What a backfill would do: which keys run, in which order, why others do not, and what is lacking."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import BackfillPartition, DagRun, JournalEntry
from scheduling import backfills, runs
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.selections import InvalidSelection
from scheduling.algebra.time_shorthands import DailyPartitions, MinutelyPartitions
from scheduling.backfills import CannotBackfill, Dates, Order, Reprocess
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import ask, attempt, days, keys, plan, producer
from tests.engine.world import ALICE, DAILY, HOURS_TO_DAY, NOW, RUNTIME, asset, consumer, dag, emit, hours
from tests.moments import utc

pytestmark = pytest.mark.django_db


MINUTES = specs.dump(MinutelyPartitions("2026-03-08"))


class TestSelection:
    def test_without_any_every_key_of_the_definition(self):
        assert keys(producer()) == days(1, 10)

    def test_typed(self):
        assert keys(producer(), selection="[2026-03-01...2026-03-03], 2026-03-07") == [
            *days(1, 3),
            "2026-03-07",
        ]

    def test_by_key_in_the_order_of_the_definition_each_once(self):
        assert keys(producer(), keys=("2026-03-05", "2026-03-02", "2026-03-05")) == [
            "2026-03-02",
            "2026-03-05",
        ]

    def test_by_dates_both_ends_included(self):
        dates = Dates(utc("2026-03-02"), utc("2026-03-04"))
        assert keys(producer(), dates=dates) == days(2, 4)

    def test_by_dates_without_the_end(self):
        dates = Dates(utc("2026-03-02"), utc("2026-03-04"), end_exclusive=True)
        assert keys(producer(), dates=dates) == days(2, 3)

    def test_newest_first(self):
        assert keys(producer(), selection="[2026-03-01...2026-03-03]", order=Order.NEWEST) == days(1, 3)[::-1]

    def test_in_several_ways_at_once_is_refused(self):
        with pytest.raises(CannotBackfill, match="not several of them"):
            plan(producer(), selection="*", keys=("2026-03-01",))

    def test_of_a_key_there_is_not_names_it(self):
        with pytest.raises(InvalidKey, match=r"not among days from 2026-03-01 \(UTC\): '2026-02-30', 'x'"):
            plan(producer(), keys=("2026-03-01", "2026-02-30", "x"))

    def test_of_many_keys_there_are_not_counts_them(self):
        with pytest.raises(InvalidKey, match="and 15 more"):
            plan(producer(), keys=tuple(f"k{n}" for n in range(20)))

    def test_that_cannot_be_read_names_the_character(self):
        with pytest.raises(InvalidSelection) as refusal:
            plan(producer(), selection="[2026-03-01..2026-03-03]")
        assert "(character" in str(refusal.value)

    def test_of_a_dag_without_keys_is_refused(self):
        with pytest.raises(runs.NotPartitioned, match="Dag plain is not partitioned"):
            plan(dag("plain", None))

    def test_of_a_dag_that_is_gone_is_refused(self):
        with pytest.raises(runs.NotRunnable, match="not defined any more"):
            plan(producer(is_active=False))

    def test_of_no_dag_is_refused(self):
        with pytest.raises(CannotBackfill, match="name a Dag"):
            plan()

    def test_writes_nothing(self):
        made = producer()
        with CaptureQueriesContext(connection) as queries:
            plan(made)
        assert all(query["sql"].lstrip().startswith(("SELECT", "DECLARE")) for query in queries)


class TestKeysOfATimetable:
    """A Dag whose asset has no definition of its own."""

    def made(self, **fields):
        return dag("ticking", DAILY, writes=["out"], **fields)

    def test_are_those_of_its_ticks_since_it_began(self):
        made = self.made(start_date=utc("2026-03-05"))
        assert keys(made) == days(5, 11)

    def test_may_be_older_than_it_is(self):
        made = self.made(created_at=NOW)
        assert keys(made, selection="[2020-02-28...2020-03-01]") == ["2020-02-28", "2020-02-29", "2020-03-01"]

    def test_begin_with_the_first_partition_it_ever_made(self):
        made = self.made(created_at=NOW)
        attempt(made, "2026-03-08")
        assert keys(made, reprocess=Reprocess.COMPLETED) == days(8, 11)

    def test_a_range_without_a_beginning_begins_when_it_did(self):
        made = self.made(start_date=utc("2026-03-05"))
        assert keys(made, selection="[...2026-03-06]") == days(5, 6)

    def test_by_dates_may_lie_ahead(self):
        dates = Dates(utc("2026-03-10"), utc("2026-03-13"))
        assert keys(self.made(), dates=dates) == days(10, 13)

    def test_by_key_must_be_readable(self):
        with pytest.raises(InvalidKey):
            plan(self.made(), keys=("2026-03-01", "yesterday"))


class TestKeysThatWereSeen:
    """A Dag of which nobody says what keys it has."""

    def made(self):
        return dag("free", RUNTIME, writes=["out"])

    def test_are_those_of_its_runs_and_partitions(self):
        made = self.made()
        attempt(made, "b")
        emit("out", "a")
        runs.trigger(made, RunAsk("c"), deed=ALICE, at=NOW)
        assert set(plan(made).parts[0].order) == {"a", "b", "c"}

    def test_single_ones_may_be_new(self):
        assert keys(self.made(), selection='x, "y, z"') == ["x", "y, z"]

    def test_composite_ones_too(self):
        made = self.made()
        attempt(made, "tw|2026")
        assert keys(made, selection="us|2026") == ["us|2026"]

    def test_ranges_are_of_those_there_are(self):
        made = self.made()
        for key in ("2026-01", "2026-02", "2026-03"):
            attempt(made, key)
        assert keys(made, selection="[2026-02...]", reprocess=Reprocess.COMPLETED) == ["2026-02", "2026-03"]

    def test_have_no_dates(self):
        with pytest.raises(CannotBackfill, match="have no dates"):
            plan(self.made(), dates=Dates(NOW, NOW))

    @pytest.mark.parametrize(
        "key", ["Report, Q1 2024.pdf", '{"k1":"v1","k2":"v2"}', "my|key", "a/b?c#d&e=%2F", "Zürich", "東京"]
    )
    def test_may_be_written_in_any_way(self, key):
        """TC-35: they can be selected in a backfill of two of them."""
        assert set(keys(self.made(), keys=(key, "other"))) == {key, "other"}


class TestSize:
    """How many keys a plan has to look at, told before it is made."""

    @pytest.mark.parametrize("options", [{}, {"selection": "[2026-03-02...2026-03-05]"}, {"selection": "*"}])
    def test_is_that_of_the_plan_where_keys_are_numbered(self, options):
        made = producer()
        there = plan(made, **options)
        asked = ask(made, **options)
        assert backfills.size(asked, most=3, now=NOW) == there.count + there.skipped

    def test_of_keys_that_are_named_is_their_number(self):
        assert backfills.size(ask(producer(), keys=("2026-03-02",)), most=3, now=NOW) == 1

    def test_of_keys_that_a_timetable_makes_is_that_of_the_plan(self):
        made = dag("nightly", DAILY, start_date=utc("2026-03-01"))
        assert backfills.size(ask(made), most=3, now=NOW) == plan(made).count > 3

    def test_elsewhere_is_that_of_what_is_on_record_up_to_a_limit(self):
        made = consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours("2026-03-09", *range(5)))
        assert backfills.size(ask(made), most=10, now=NOW) == 5
        assert backfills.size(ask(made), most=3, now=NOW) == 4
        asset("hourly").__class__.objects.filter(name="hourly").update(partitions=MINUTES)
        assert backfills.size(ask(made), most=3, now=NOW) > 1000

    def test_a_wrong_selection_is_refused_as_for_the_plan(self):
        with pytest.raises(InvalidSelection):
            backfills.size(ask(producer(), selection="[x"), most=3, now=NOW)


class TestCompositeKeys:
    @pytest.fixture
    def made(self):
        both = MultiPartitions(
            {"region": StaticPartitions(["tw", "us"]), "day": DailyPartitions("2026-03-09")}
        )
        return producer(writes=asset("both", partitions=specs.dump(both)).name)

    def test_a_wildcard_in_one_dimension(self, made):
        assert keys(made, selection="*|2026-03-10") == ["tw|2026-03-10", "us|2026-03-10"]

    def test_a_range_in_one_dimension(self, made):
        assert keys(made, selection="us|[2026-03-09...2026-03-10]") == ["us|2026-03-09", "us|2026-03-10"]

    def test_dates_mean_the_dimension_of_time(self, made):
        day = utc("2026-03-09")
        assert keys(made, dates=Dates(day, day)) == ["tw|2026-03-09", "us|2026-03-09"]
        assert keys(made, dates=Dates(utc("2020-01-01"), utc("2020-02-01"))) == []


class TestDynamicKeys:
    def test_are_those_there_are(self):
        from scheduling import dynamic

        made = producer(writes=asset("stores", partitions=specs.dump(DynamicPartitions("stores"))).name)
        dynamic.add("stores", ["berlin", "aachen"], deed=ALICE, at=NOW)
        assert keys(made) == ["berlin", "aachen"]
        dynamic.remove("stores", ["berlin"], deed=ALICE, at=NOW)
        assert keys(made) == ["aachen"]


class TestNothingIsWritten:
    def test_by_a_plan_of_everything(self):
        made = producer()
        plan(made, with_downstream=True, with_upstream=True)
        assert not BackfillPartition.objects.exists()
        assert not DagRun.objects.exists()
        assert not JournalEntry.objects.exists()

    def test_the_same_ask_gives_the_same_token_but_for_the_time(self):
        made = producer()
        one, two = plan(made).token(), plan(made, now=NOW.replace(second=5)).token()
        assert one != two
        assert one.partition("~")[2] == two.partition("~")[2]
        assert plan(made, order=Order.NEWEST).token().partition("~")[2] != one.partition("~")[2]


def test_all_names_are_given_by_the_package():
    assert all(hasattr(backfills, name) for name in backfills.__all__)
