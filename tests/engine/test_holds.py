"""Held runs: what is counted where, when they fire, and what they say meanwhile."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, DagRun, HeldRun, ReceivedKey
from scheduling import holds
from scheduling.algebra.verdicts import Kind
from tests.engine.world import (
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    asset,
    consumer,
    dag,
    emit,
    fired,
    held,
    hours,
    turn,
)

pytestmark = pytest.mark.django_db
WEEKS_TO_MONTHS = {
    "type": "FanOutMapper",
    "upstream_mapper": {"type": "StartOfWeekMapper", "input_format": "%G-W%V", "output_format": "%G-W%V"},
    "window": {"type": "WeekWindow"},
    "downstream_mapper": {"type": "StartOfMonthMapper"},
}
DAY = "2026-03-10"


class TestAWaitingRollup:
    def test_it_says_which_hours_are_missing(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, *(hour for hour in range(24) if hour not in (9, 11, 22))))
        turn()
        row = held("daily", DAY)
        assert row.sentence == "waiting on 3 of 24: hours 09, 11, 22"
        assert (row.required_count, row.received_count, row.verdict) == (24, 21, "waiting")
        assert fired("daily") == []

    def test_the_last_hour_fires_it_with_every_event_it_counted(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, *range(23)))
        turn()
        emit("hourly", *hours(DAY, 23), at=NOW + MINUTE)
        turn(NOW + MINUTE)
        run = DagRun.objects.get()
        assert (run.partition_key, run.state, run.run_type) == (DAY, "queued", "asset_triggered")
        assert run.held_runs.get().state == HeldRun.State.FIRED
        assert run.held_runs.get().consumed.count() == 24
        assert run.partition_date.isoformat() == "2026-03-10T00:00:00+00:00"

    def test_the_same_key_many_times_counts_once(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *(hours(DAY, 9) * 24))
        turn()
        assert held("daily", DAY).received_count == 1
        assert ReceivedKey.objects.count() == 1

    def test_it_sleeps_until_something_happens_to_it(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, 1))
        turn()
        assert held("daily", DAY).judge_after is None
        assert holds.judge_due(now=NOW + timedelta(days=9)) == 0

    def test_a_stray_key_is_shown_as_unexpected_and_does_not_count(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "mars")
        turn()
        row = held("all", "all")
        [progress] = holds.assess([row], now=NOW)[row.pk].progress
        assert (progress.received, progress.unexpected) == (("tw",), ("mars",))
        assert progress.missing == ("jp", "us")
        assert row.sentence == "waiting on 2 of 3: keys jp, us; unexpected, so not counted: mars"


class TestWhereEventsAreCounted:
    def test_what_is_ready_fires_at_once_and_says_why(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        holds.route_pending(now=NOW)
        row = DagRun.objects.get().held_runs.get()
        assert (row.state, row.verdict, row.sentence) == ("fired", "ready", "complete")
        assert (row.required_count, row.received_count, row.closed_at, row.closed_by) == (3, 3, NOW, "engine")
        assert (row.judge_after, row.received.count(), row.consumed.count()) == (None, 3, 3)

    def test_one_that_was_open_before_fires_with_what_it_had(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp")
        turn()
        opened = held("all", "all")
        emit("regional", "us", at=NOW + MINUTE)
        holds.route_pending(now=NOW + MINUTE)
        row = DagRun.objects.get().held_runs.get()
        assert (row, row.received_count, row.opened_at) == (opened, 3, NOW)
        assert (row.last_event_at, row.consumed.count()) == (NOW + MINUTE, 3)

    def test_what_has_to_wait_is_judged_once_it_can_be_seen(self):
        """Whoever unpauses its Dag meanwhile does not see it: asleep, it would wait for ever."""
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw")
        holds.route_pending(now=NOW)
        assert held("all", "all").judge_after == NOW
        assert holds.judge_due(now=NOW) == 1

    def test_events_that_count_for_too_many_only_mark_them(self):
        consumer("copy", {"a": IDENTITY})
        emit("a", "1", "2")
        assert holds.route_pending(now=NOW, at_once=1) == 2
        assert fired("copy") == []
        assert holds.judge_due(now=NOW) == 2
        assert fired("copy") == ["1", "2"]

    def test_the_number_of_queries_does_not_grow_with_what_fires(self, django_assert_max_num_queries):
        consumer("copy", {"a": IDENTITY})
        emit("a", *(f"k{number}" for number in range(200)))
        with django_assert_max_num_queries(20):
            holds.route_pending(now=NOW)
        assert DagRun.objects.count() == 200


class TestCompletenessIsAPropertyOfTheData:
    def test_a_consumer_defined_later_sees_what_is_there(self):
        emit("hourly", *hours(DAY, *range(23)))
        turn()
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, 23))
        turn()
        assert fired("daily") == [DAY]
        assert DagRun.objects.get().held_runs.get().consumed.count() == 24

    @pytest.mark.parametrize("week", ["2026-W09", "2026-W11", "2026-W14"])
    def test_so_does_one_that_needs_any_of_several_keys(self, week):
        """March has days of six weeks. Each of them would do."""
        emit("weekly", week)
        turn()
        consumer("monthly", {"weekly": WEEKS_TO_MONTHS, "other": IDENTITY})
        emit("other", "2026-03")
        turn()
        assert fired("monthly") == ["2026-03"]

    def test_an_upstream_that_only_failed_is_absent(self):
        producer = dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
        asset("hourly").partition_set.create(key=hours(DAY, 9)[0], attempt="failed", updated_at=NOW)
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, 8))
        turn()
        assert held("daily", DAY).received_count == 1
        assert producer.is_active


class TestSeveralAssets:
    def test_all_of_them_must_have_the_same_downstream_key(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY, "c": IDENTITY})
        emit("a", "k", "other")
        emit("b", "k")
        turn()
        assert fired("joined") == []
        assert held("joined", "k").sentence == "waiting on c (any key that maps here)"
        emit("c", "k")
        turn()
        assert fired("joined") == ["k"]

    def test_any_of_them_is_enough_with_or(self):
        consumer("either", {"a": IDENTITY, "b": IDENTITY}, join="any")
        emit("b", "k")
        turn()
        assert fired("either") == ["k"]

    def test_two_consumers_of_one_asset_keep_separate_counts(self):
        consumer("one", {"a": IDENTITY, "x": IDENTITY})
        consumer("two", {"a": IDENTITY})
        emit("a", "k")
        turn()
        assert (fired("one"), fired("two")) == ([], ["k"])


class TestPause:
    def test_events_are_counted_while_paused_and_fire_when_it_ends(self):
        paused = consumer("copy", {"a": IDENTITY}, writes=["b"])
        paused.is_paused = True
        paused.save()
        emit("a", "1", "2", "3")
        turn()
        assert fired("copy") == []
        assert held("copy", "2").verdict == Kind.PAUSED
        paused.is_paused = False
        paused.save()
        holds.judge_again([paused], at=NOW)
        turn()
        assert fired("copy") == ["1", "2", "3"]


class TestADagThatNoFileDefines:
    def test_its_held_runs_wait_until_one_does(self):
        gone = consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        holds.route_pending(now=NOW, at_once=0)
        gone.is_active = False
        gone.save()
        turn()
        assert fired("all") == []
        assert "no file defines the Dag" in held("all", "all").sentence
        gone.is_active = True
        gone.save()
        holds.judge_again([gone], at=NOW)
        turn()
        assert fired("all") == ["all"]


class TestDagsThatKnowNoKeys:
    def test_a_keyless_event_starts_it_and_a_keyed_one_does_not(self):
        made = dag("plain", {"type": "AssetTimetable", "assets": {"asset": "a"}})
        made.dependencies.create(asset=asset("a"), leaf={"asset": "a"}, created_at=NOW)
        emit("a", "k")
        turn()
        assert fired("plain") == []
        emit("a", None)
        turn()
        assert fired("plain") == [None]

    def test_it_opts_in_to_keyed_events(self):
        schedule = {"type": "AssetTimetable", "assets": {"asset": "a"}, "accept_partitioned": True}
        made = dag("plain", schedule)
        made.dependencies.create(asset=asset("a"), leaf={"asset": "a"}, created_at=NOW)
        emit("a", "k")
        turn()
        assert fired("plain") == [None]


def test_every_event_is_routed_once():
    consumer("copy", {"a": IDENTITY})
    emit("a", *(f"k{n}" for n in range(20)))
    assert holds.route_pending(now=NOW, limit=15) == 15
    assert holds.route_pending(now=NOW, limit=15) == 5
    assert holds.route_pending(now=NOW, limit=15) == 0
    assert not AssetEvent.objects.unrouted().exists()
