"""What a backfill would do: which keys run, in which order, why others do not, and what is lacking."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import BackfillPartition, Dag, DagRun, JournalEntry, Outlet
from scheduling import backfills, claims, runs
from scheduling.algebra import specs
from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import DynamicPartitions, MultiPartitions, StaticPartitions
from scheduling.algebra.selections import InvalidSelection
from scheduling.algebra.time_partitions import (
    DailyPartitions,
    MinutelyPartitions,
    TimePartitions,
    YearlyPartitions,
)
from scheduling.backfills import CannotBackfill, Dates, Order, Reprocess, Wanted
from scheduling.listening import BrokenDefinition
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    RUNTIME,
    ask,
    begin,
    daily,
    days,
    hourly,
    keys,
    listener,
    plan,
    producer,
)
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    NOW,
    asset,
    consumer,
    dag,
    emit,
    finish,
    hours,
    start,
)

pytestmark = pytest.mark.django_db
CRON = {"type": "CronPartitionTimetable", "cron": "0 0 * * *", "key_format": "%Y-%m-%d"}


MINUTES = specs.dump(MinutelyPartitions("2026-03-08"))


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def attempt(made, key, end="success", **output):
    run = start(runs.trigger(made, RunAsk(key), deed=ALICE, at=NOW))
    if end == "success":
        names = [outlet.asset.name for outlet in made.outlets.select_related("asset")]
        finish(run, *names)
    elif end == "failed":
        claims.fail(run, "boom", at=NOW)
    elif end == "cancelled":
        claims.stop(run, at=NOW)
    return run


def reasons(made, **options):
    [part] = plan(made, **options).parts
    return dict(part.skipped)


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
        dates = Dates(at("2026-03-02"), at("2026-03-04"))
        assert keys(producer(), dates=dates) == days(2, 4)

    def test_by_dates_without_the_end(self):
        dates = Dates(at("2026-03-02"), at("2026-03-04"), end_exclusive=True)
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
        assert "at character" in str(refusal.value)

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
        return dag("ticking", CRON, writes=["out"], **fields)

    def test_are_those_of_its_ticks_since_it_began(self):
        made = self.made(start_date=at("2026-03-05"))
        assert keys(made) == days(5, 11)

    def test_may_be_older_than_it_is(self):
        made = self.made(created_at=NOW)
        assert keys(made, selection="[2020-02-28...2020-03-01]") == ["2020-02-28", "2020-02-29", "2020-03-01"]

    def test_begin_with_the_first_partition_it_ever_made(self):
        made = self.made(created_at=NOW)
        attempt(made, "2026-03-08")
        assert keys(made, reprocess=Reprocess.COMPLETED) == days(8, 11)

    def test_a_range_without_a_beginning_begins_when_it_did(self):
        made = self.made(start_date=at("2026-03-05"))
        assert keys(made, selection="[...2026-03-06]") == days(5, 6)

    def test_by_dates_may_lie_ahead(self):
        dates = Dates(at("2026-03-10"), at("2026-03-13"))
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
        made = dag("nightly", CRON, start_date=at("2026-03-01"))
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


class TestRangesThatOthersGotWrong:
    def test_tc_18_hours(self):
        made = producer(writes=hourly(start="2026-06-18").name)
        now = at("2026-06-19")
        assert keys(made, now=now, selection="[2026-06-18T08...2026-06-18T09]") == [
            "2026-06-18T08",
            "2026-06-18T09",
        ]
        assert keys(made, now=now, selection="[2026-06-18T08...2026-06-18T08]") == ["2026-06-18T08"]
        dates = Dates(at("2026-06-18T08:00"), at("2026-06-18T08:00"))
        assert keys(made, now=now, dates=dates) == ["2026-06-18T08"]

    def test_tc_18_one_local_midnight(self):
        made = producer(writes=daily("local", timezone="America/New_York").name)
        midnight = at("2026-03-05T05:00")
        assert keys(made, dates=Dates(midnight, midnight)) == ["2026-03-05"]

    def test_tc_19_minutes(self):
        minutes = MinutelyPartitions("2026-03-10")
        made = producer(writes=asset("minutes", partitions=specs.dump(minutes)).name)
        assert len(keys(made, selection="[2026-03-10T01:00...2026-03-10T01:05]")) == 6

    def test_tc_19_years(self):
        years = YearlyPartitions("2018-01-01")
        made = producer(writes=asset("years", partitions=specs.dump(years)).name)
        assert keys(made, dates=Dates(at("2021-01-01"), at("2021-12-31"))) == ["2021"]

    def test_tc_19_months_by_cron(self):
        monthly = {"type": "CronPartitionTimetable", "cron": "0 9 1 * *", "timezone": "Europe/Berlin"}
        made = dag("monthly", monthly, writes=["out"])
        [part] = plan(made, dates=Dates(at("2019-01-01"), at("2019-03-31"))).parts
        dates = [runs.date_of(made, key) for key in part.order]
        assert dates == [at("2019-01-01T08:00"), at("2019-02-01T08:00"), at("2019-03-01T08:00")]

    def test_tc_19_days(self):
        made = producer(writes=daily(start="2024-09-01").name)
        text = "[2024-09-05...2024-09-07]"
        assert keys(made, selection=text) == ["2024-09-05", "2024-09-06", "2024-09-07"]
        assert keys(made, selection=text, end_exclusive=True) == ["2024-09-05", "2024-09-06"]

    def test_tc_19_the_wrong_way_round(self):
        made = producer()
        with pytest.raises(InvalidSelection, match="starts after its end"):
            plan(made, selection="[2026-03-05...2026-03-01]")
        with pytest.raises(CannotBackfill, match="starts after its end"):
            plan(made, dates=Dates(at("2026-03-05"), at("2026-03-01")))

    def test_tc_19_a_range_that_hits_nothing_names_the_nearest(self):
        calendar = TimePartitions("day", "2026-03-01", exclusions=(BusinessCalendar(),))
        made = producer(writes=asset("weekdays", partitions=specs.dump(calendar)).name)
        with pytest.raises(InvalidSelection, match="the nearest: 2026-03-06 and 2026-03-09"):
            plan(made, selection="[2026-03-07...2026-03-08]")

    @pytest.mark.parametrize(
        ("zone", "offset", "last"),
        [
            ("UTC", 0, "2023-12-03"),
            ("Pacific/Auckland", 0, "2023-12-04"),
            ("UTC", 1, "2023-12-04"),
            ("Pacific/Auckland", 1, "2023-12-05"),
            ("UTC", -1, "2023-12-02"),
            ("Pacific/Auckland", -1, "2023-12-03"),
        ],
    )
    def test_tc_20_the_last_complete_day(self, zone, offset, last):
        made = producer(writes=daily("d", "2023-12-01", timezone=zone, end_offset=offset).name)
        assert keys(made, now=at("2023-12-04T22:00"))[-1] == last

    def test_tc_22_friday_ends_when_saturday_begins(self):
        weekdays = DailyPartitions("2023-10-23", timezone="Etc/GMT-2", exclusions=(BusinessCalendar(),))
        made = producer(writes=asset("weekdays", partitions=specs.dump(weekdays)).name)
        assert keys(made, now=at("2023-10-27T21:59"))[-1] == "2023-10-26"
        assert keys(made, now=at("2023-10-27T22:00"))[-1] == "2023-10-27"
        assert keys(made, now=at("2023-10-30T22:00"))[-2:] == ["2023-10-27", "2023-10-30"]


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
        day = at("2026-03-09")
        assert keys(made, dates=Dates(day, day)) == ["tw|2026-03-09", "us|2026-03-09"]
        assert keys(made, dates=Dates(at("2020-01-01"), at("2020-02-01"))) == []


class TestDynamicKeys:
    def test_are_those_there_are(self):
        from scheduling import dynamic

        made = producer(writes=asset("stores", partitions=specs.dump(DynamicPartitions("stores"))).name)
        dynamic.add("stores", ["berlin", "aachen"], deed=ALICE, at=NOW)
        assert keys(made) == ["berlin", "aachen"]
        dynamic.remove("stores", ["berlin"], deed=ALICE, at=NOW)
        assert keys(made) == ["aachen"]


class TestStates:
    """TC-38: what is missing, failed or stale can be selected, and nothing else is touched."""

    def ten_minutes(self):
        return TimePartitions("*/10 * * * *", "2026-05-17", "2026-05-17T02:00")

    def test_the_one_that_is_missing(self):
        now = at("2026-05-18")
        made = producer(writes=asset("tens", partitions=specs.dump(self.ten_minutes())).name)
        every = keys(made, now=now)
        assert len(every) == 12
        for key in every:
            if not key.endswith("00:30"):
                attempt(made, key)
        for wanted in (Wanted.MISSING, Wanted.FAILED_AND_MISSING):
            assert keys(made, now=now, wanted=wanted) == ["2026-05-17T00:30"]
        assert keys(made, now=now, wanted=Wanted.FAILED) == []

    def test_of_several_dags_only_their_own(self):
        good, bad = producer("a", "as"), producer("b", "bs")
        for key in days(1, 4):
            attempt(good, key)
        for key, end in zip(days(1, 4), ["success", "failed", "failed", "success"], strict=True):
            attempt(bad, key, end)
        found = plan(good, bad, selection="[2026-03-01...2026-03-04]", wanted=Wanted.FAILED_AND_MISSING)
        assert [(made.dag_id, key) for made, key in found.pairs()] == [
            ("b", "2026-03-02"),
            ("b", "2026-03-03"),
        ]
        assert found.skipped == 0

    def test_some_of_several_dags(self):
        first, _, third = producer("a", "as"), producer("b", "bs"), producer("c", "cs")
        found = plan(first, third, keys=("2026-03-01",))
        assert [(made.dag_id, key) for made, key in found.pairs()] == [
            ("a", "2026-03-01"),
            ("c", "2026-03-01"),
        ]

    def test_cancelled_without_data_is_missing(self):
        made = producer()
        attempt(made, "2026-03-01", "cancelled")
        assert "2026-03-01" in keys(made, wanted=Wanted.MISSING)

    def test_a_failure_after_data_is_failed_and_not_missing(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-01", "failed")
        assert keys(made, wanted=Wanted.FAILED) == ["2026-03-01"]
        assert "2026-03-01" not in keys(made, wanted=Wanted.MISSING)

    def test_what_is_under_way_is_neither(self):
        made = producer()
        runs.trigger(made, RunAsk("2026-03-01"), deed=ALICE, at=NOW)
        attempt(made, "2026-03-02", end="running")
        for wanted in (Wanted.MISSING, Wanted.FAILED_AND_MISSING):
            assert keys(made, wanted=wanted) == days(3, 10)

    def test_stale_ones_run_again(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-02")
        made.outlets.get().asset.partition_set.filter(key="2026-03-02").update(stale_since=NOW)
        assert keys(made, wanted=Wanted.STALE) == ["2026-03-02"]

    def test_of_two_outlets_both_must_have_data(self):
        made = producer(writes="one")
        Outlet.objects.create(dag=made, asset=daily("two"), task_id="write")
        emit("one", *days(1, 3))
        emit("two", *days(2, 4))
        assert keys(made, selection="[2026-03-01...2026-03-05]") == ["2026-03-01", "2026-03-04", "2026-03-05"]

    def test_of_a_dag_that_writes_nothing_its_runs_tell(self):
        made = dag("silent", RUNTIME)
        for key, end in (("a", "success"), ("b", "failed"), ("c", "cancelled")):
            attempt(made, key, end)
        assert keys(made, keys=("a", "b", "c", "d")) == ["c", "d"]
        assert keys(made, keys=("a", "b", "c", "d"), wanted=Wanted.FAILED) == ["b"]

    def test_are_the_same_for_many_keys_as_for_few(self, monkeypatch):
        made = producer()
        for key, end in zip(days(1, 4), ["success", "failed", "cancelled", "success"], strict=True):
            attempt(made, key, end)
        few = [keys(made, wanted=wanted) for wanted in Wanted], reasons(made)
        monkeypatch.setattr("scheduling.backfills.standing.MANY", 1)
        assert ([keys(made, wanted=wanted) for wanted in Wanted], reasons(made)) == few


class TestReprocess:
    @pytest.fixture
    def made(self):
        made = producer()
        attempt(made, "2026-03-01")
        attempt(made, "2026-03-02", "failed")
        return made

    @pytest.mark.parametrize(
        ("reprocess", "run"),
        [
            (Reprocess.NONE, ["2026-03-03"]),
            (Reprocess.FAILED, ["2026-03-02", "2026-03-03"]),
            (Reprocess.COMPLETED, ["2026-03-01", "2026-03-02", "2026-03-03"]),
        ],
    )
    def test_says_what_runs_again(self, made, reprocess, run):
        assert keys(made, selection="[2026-03-01...2026-03-03]", reprocess=reprocess) == run

    def test_each_key_that_does_not_run_says_why(self, made):
        runs.trigger(made, RunAsk("2026-03-03"), deed=ALICE, at=NOW)
        why = reasons(made, selection="[2026-03-01...2026-03-04]")
        assert why["2026-03-01"] == "it has data"
        assert why["2026-03-02"] == "its last attempt failed, and failed ones do not run again"
        assert why["2026-03-03"].startswith("it is in progress: run manual__")
        assert "2026-03-04" not in why

    def test_nothing_runs_twice_at_once_whatever_is_asked(self, made):
        runs.trigger(made, RunAsk("2026-03-03"), deed=ALICE, at=NOW)
        again = keys(made, selection="[2026-03-01...2026-03-03]", reprocess=Reprocess.COMPLETED)
        assert again == ["2026-03-01", "2026-03-02"]

    def test_another_backfill_has_it_ahead(self, made):
        other = begin(made, keys=("2026-03-05",))
        assert reasons(made, keys=("2026-03-05",)) == {
            "2026-03-05": f"it is in progress: backfill {other.pk}"
        }

    def test_the_plan_sums_up_the_reasons(self, made):
        [part] = plan(made, selection="[2026-03-01...2026-03-04]", reprocess=Reprocess.FAILED).parts
        assert (part.count, part.reasons()) == (3, [("it has data", 1)])
        nothing = plan(made, keys=("2026-03-01",))
        assert (
            nothing.why_nothing() == "there is nothing to backfill: all 1 keys are left out (1: it has data)"
        )


class TestRanges:
    def test_a_dag_that_takes_one_key_is_not_given_more(self):
        with pytest.raises(CannotBackfill, match="a run of Dag load takes one key: its definition says so"):
            plan(producer(), keys_per_run=None)

    def test_a_dag_that_takes_some_is_not_given_more_than_that(self):
        made = producer(max_keys_per_run=5)
        with pytest.raises(CannotBackfill, match="takes 5 keys at most"):
            plan(made, keys_per_run=6)
        assert plan(made, keys_per_run=5).count == 10

    def test_a_run_of_too_many_keys_is_refused(self, monkeypatch):
        monkeypatch.setattr("scheduling.backfills.planning.MOST_KEYS_PER_RUN", 5)
        with pytest.raises(CannotBackfill, match="one run cannot take 10 keys of Dag load: 5 at most"):
            plan(producer(max_keys_per_run=None), keys_per_run=None)

    @pytest.mark.parametrize("options", [{"keys_per_run": 0}, {"max_active_runs": 0}])
    def test_of_nothing_are_refused(self, options):
        with pytest.raises(CannotBackfill, match="from 1 on"):
            plan(producer(max_keys_per_run=None), **options)


class TestConsumers:
    @pytest.fixture
    def day(self):
        """A day needs its 24 hours; 2026-03-10 has 22 of them, 2026-03-09 all."""
        hourly(start="2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
        made = listener("day", "hours", daily("days").name, HOURS_TO_DAY)
        emit("hours", *hours("2026-03-09", *range(24)), *hours("2026-03-10", *range(22)))
        return made

    def test_run_directly_where_their_upstream_is_there(self, day):
        assert keys(day, selection="2026-03-09") == ["2026-03-09"]

    def test_say_which_upstream_keys_they_lack(self, day):
        why = reasons(day, selection="[2026-03-09...2026-03-10]")
        assert why == {"2026-03-10": "its upstream is not complete: waiting on 2 of 24: hours 22, 23"}

    def test_nobody_is_offered_to_make_what_nobody_writes(self, day):
        found = plan(day, selection="2026-03-10", with_upstream=True)
        assert (found.count, found.offers) == (0, ())

    def test_offer_to_backfill_exactly_the_missing_keys_first(self, day):
        producer("hour", "hours")
        found = plan(day, selection="[2026-03-09...2026-03-10]")
        assert [(offer.dag.dag_id, list(offer.keys)) for offer in found.offers] == [
            ("hour", hours("2026-03-10", 22, 23))
        ]
        assert [key for _, key in found.pairs()] == ["2026-03-09"]

    def test_with_upstream_the_producers_come_first(self, day):
        producer("hour", "hours")
        found = plan(day, selection="[2026-03-09...2026-03-10]", with_upstream=True)
        first, second = found.parts
        assert (first.dag.dag_id, first.layer, first.keys) == ("hour", 0, hours("2026-03-10", 22, 23))
        assert (second.dag.dag_id, second.layer, second.keys) == ("day", 1, days(9, 10))
        assert second.waiting == {"2026-03-10"}
        assert found.offers == ()

    def test_two_producers_are_not_guessed_between(self, day):
        producer("hour", "hours")
        producer("other hour", "hours")
        assert plan(day, selection="2026-03-10").offers == ()

    def test_what_is_under_way_is_not_asked_for_again(self, day):
        hour = producer("hour", "hours")
        runs.trigger(hour, RunAsk("2026-03-10T22:00:00"), deed=ALICE, at=NOW)
        [offer] = plan(day, selection="2026-03-10").offers
        assert list(offer.keys) == hours("2026-03-10", 23)

    def test_producers_of_producers_come_before_them(self):
        first = producer("first", "as")
        listener("second", "as", "bs")
        third = listener("third", "bs", "cs")
        assert first.pk
        found = plan(third, keys=("2026-03-01", "2026-03-02"), with_upstream=True)
        assert [(part.dag.dag_id, part.layer, part.keys) for part in found.parts] == [
            ("first", 0, days(1, 2)),
            ("second", 1, days(1, 2)),
            ("third", 2, days(1, 2)),
        ]

    def test_without_a_definition_have_the_keys_that_their_upstream_leads_to(self):
        hourly(key_format="%Y-%m-%dT%H:%M:%S")
        made = listener("day", "hours", "days", HOURS_TO_DAY)
        [part] = plan(made).parts
        assert part.order == ("2026-03-10", "2026-03-11")
        assert part.skipped["2026-03-10"].startswith("its upstream is not complete: waiting on 24 of 24")

    def test_of_two_assets_need_both_or_either(self):
        both = consumer("both", {"a": IDENTITY, "b": IDENTITY}, writes=["out"])
        either = consumer("either", {"a": IDENTITY, "b": IDENTITY}, join="any", writes=["any"])
        emit("a", "x")
        assert keys(both, keys=("x",)) == []
        assert keys(either, keys=("x",)) == ["x"]
        emit("b", "x")
        assert keys(both, keys=("x",)) == ["x"]

    def test_of_all_known_partitions_need_every_one(self):
        made = consumer("all", {"a": {"type": "AllPartitionsMapper"}}, writes=["out"])
        assert reasons(made, keys=("all",)) == {}
        emit("a", "x")
        assert keys(made, keys=("all",)) == ["all"]

    def test_whose_mapper_cannot_be_read_are_refused_with_the_reason(self):
        made = consumer("broken", {"a": {"type": "NoSuchMapper"}}, writes=["out"])
        with pytest.raises(BrokenDefinition, match="NoSuchMapper"):
            plan(made, keys=("x",))

    def test_many_keys_cost_as_many_queries_as_few(self):
        asset("a")
        made = consumer("copy", {"a": IDENTITY}, writes=["out"])
        emit("a", *(f"k{n}" for n in range(300)))
        plan(made, keys=("k1",))
        with CaptureQueriesContext(connection) as few:
            plan(made, keys=("k1",))
        with CaptureQueriesContext(connection) as many:
            plan(made, keys=tuple(f"k{n}" for n in range(300)))
        assert len(many) == len(few)


class TestDownstream:
    def chain(self):
        first = producer("first", "as")
        listener("second", "as", "bs")
        listener("third", "bs", "cs")
        return first

    def test_follows_key_by_key(self):
        found = plan(self.chain(), selection="[2026-03-01...2026-03-02]", with_downstream=True)
        assert [(part.dag.dag_id, part.layer, part.keys) for part in found.parts] == [
            ("first", 0, days(1, 2)),
            ("second", 1, days(1, 2)),
            ("third", 2, days(1, 2)),
        ]
        assert [part.waiting for part in found.parts] == [set(), set(days(1, 2)), set(days(1, 2))]

    def test_runs_again_though_it_has_data(self):
        first = self.chain()
        emit("bs", "2026-03-01")
        found = plan(first, keys=("2026-03-01",), with_downstream=True)
        assert [part.dag.dag_id for part in found.parts] == ["first", "second", "third"]

    def test_that_would_not_be_complete_is_left_out(self):
        hourly(key_format="%Y-%m-%dT%H:%M:%S")
        hour = producer("hour", "hours")
        listener("day", "hours", "days", HOURS_TO_DAY)
        found = plan(hour, selection="2026-03-10T05:00:00", with_downstream=True)
        assert found.parts[1].skipped == {
            "2026-03-10": "its upstream is not complete: waiting on 23 of 24: hours 00–04, 06–23"
        }
        whole = plan(hour, selection="[2026-03-10...2026-03-10]", with_downstream=True)
        assert whole.parts[1].keys == ["2026-03-10"]
        assert whole.count == 25

    def test_in_a_circle_is_refused(self):
        first = listener("first", "bs", "as")
        listener("second", "as", "bs")
        emit("bs", "x")
        with pytest.raises(CannotBackfill, match="wait for each other in a circle"):
            plan(first, keys=("x",), with_downstream=True)

    def test_newest_first_all_the_way(self):
        found = plan(
            self.chain(), selection="[2026-03-01...2026-03-03]", with_downstream=True, order=Order.NEWEST
        )
        assert [part.keys for part in found.parts] == [days(1, 3)[::-1]] * 3

    def test_several_dags_named_come_in_order_too(self):
        first = self.chain()
        third = Dag.objects.get(dag_id="third")
        second = Dag.objects.get(dag_id="second")
        found = plan(third, first, second, keys=("2026-03-01",))
        assert [(part.dag.dag_id, part.layer) for part in found.parts] == [
            ("first", 0),
            ("second", 1),
            ("third", 2),
        ]


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
