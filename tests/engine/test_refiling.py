"""What a changed mapper, window, policy or condition makes of the keys that open held runs have."""

from datetime import timedelta

import pytest

from core.models import HeldRun, JournalEntry, ReceivedKey
from scheduling import holds
from tests.engine import world
from tests.engine.refiled import DAY, SIX_HOURS, consumed, held
from tests.engine.world import ALICE, NOW
from tests.sdk.writing import LATER

pytestmark = pytest.mark.django_db


class TestAnotherPolicy:
    def test_fires_with_what_was_received(self, listen):
        """23 of 24 hours are there; then one may be missing."""
        listen(DAY.format(""), at=NOW)
        hours = world.hours("2026-03-10", *range(23))
        world.emit("a", *hours)
        world.turn()
        assert world.fired("c") == []
        listen(DAY.format(", wait_policy=MinimumCount(-1)"))
        assert world.fired("c") == ["2026-03-10"]
        assert sorted(ReceivedKey.objects.values_list("key", flat=True)) == hours
        assert consumed("2026-03-10") == hours

    def test_that_waits_for_more_holds_what_it_held(self, listen):
        listen(DAY.format(", wait_policy=MinimumCount(12)"), at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        listen(DAY.format(""))
        assert held() == {"2026-03-10": SIX_HOURS}
        assert world.held("c", "2026-03-10").sentence.startswith("waiting on 18 of 24")


class TestAnotherMapper:
    def test_brings_several_held_runs_together(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        assert len(held()) == 6
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
        assert held() == {"2026-03-10": SIX_HOURS}
        assert (
            HeldRun.objects.filter(state="superseded", closed_at=LATER, closed_by="definitions").count() == 6
        )
        world.emit("b", "2026-03-10T23:00:00", at=LATER)
        world.turn(LATER)
        assert world.fired("c") == ["2026-03-10"]
        assert consumed("2026-03-10") == [*SIX_HOURS, "2026-03-10T23:00:00"]

    def test_takes_one_held_run_apart(self, listen):
        listen(DAY.format(""), at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        listen("StartOfHourMapper()")
        assert sorted(world.fired("c")) == [f"2026-03-10T{hour:02}" for hour in range(6)]
        assert held() == {}

    def test_that_cannot_read_a_key_leaves_it_out(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", "2026-03-10T09:00:00", "tw")
        world.turn()
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
        assert held() == {"2026-03-10": ["2026-03-10T09:00:00"]}

    def test_may_be_taken_back(self, listen):
        """There and back again: nothing is lost, and what was superseded counts for nothing."""
        both = 'Asset("a") & Asset("b")'
        listen("IdentityMapper()", assets=both, at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        listen("StartOfDayMapper()", assets=both, at=LATER)
        listen("IdentityMapper()", assets=both, at=LATER + timedelta(hours=1))
        assert held() == {hour: [hour] for hour in SIX_HOURS}
        assert consumed(SIX_HOURS[0]) == [SIX_HOURS[0]]
        assert consumed("2026-03-10") == []
        world.emit("b", SIX_HOURS[0], at=LATER + timedelta(hours=1))
        world.turn(LATER + timedelta(hours=1))
        assert world.fired("c") == SIX_HOURS[:1]

    def test_leaves_alone_what_has_fired(self, listen):
        listen("IdentityMapper()", at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        assert len(world.fired("c")) == 6
        listen("StartOfDayMapper()")
        assert len(world.fired("c")) == 6
        assert held() == {}
        assert HeldRun.objects.filter(state="fired").count() == 6

    def test_spreads_a_key_over_several_held_runs(self, listen):
        both = 'Asset("a") & Asset("b")'
        listen("IdentityMapper()", assets=both, at=NOW)
        world.emit("a", "2026-03-09T00:00:00")
        world.turn()
        listen("FanOutMapper(StartOfWeekMapper(), WeekWindow())", assets=both)
        assert sorted(held()) == [f"2026-03-{day:02}" for day in range(9, 16)]


class TestAnotherWindow:
    def test_counts_what_is_there_already(self, listen):
        """Two regions were enough; now the third is required too, and has been there for long."""
        listen('RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "xx"]))', at=NOW)
        world.emit("a", "tw", "jp")
        world.turn()
        world.emit("a", "us")
        world.turn()
        assert held()["all"] == ["jp", "tw", "us"]
        listen('RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]))')
        assert world.fired("c") == ["all"]

    def test_counts_partitions_that_no_event_brought_to_the_held_run(self, listen):
        listen("RollupMapper(StartOfDayMapper(), DayWindow())", at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        ReceivedKey.objects.filter(key=SIX_HOURS[0]).delete()
        listen("RollupMapper(StartOfDayMapper(), DayWindow(), wait_policy=MinimumCount(20))")
        assert held() == {"2026-03-10": SIX_HOURS}


class TestAnotherCondition:
    def test_without_an_asset_forgets_what_came_of_it(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b") & Asset("c")', at=NOW)
        world.emit("a", "k")
        world.emit("b", "k", "only b")
        world.turn()
        listen("IdentityMapper()", assets='Asset("a") & Asset("c")')
        assert held() == {"k": ["k"]}
        assert consumed("k") == ["k"]
        assert HeldRun.objects.get(partition_key="only b").state == "superseded"

    def test_is_written_in_the_journal(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
        entry = JournalEntry.objects.get(event="held runs filed anew")
        assert (entry.dag_id, entry.by, entry.extra) == ("c", "definitions", {"superseded": 6})


def test_a_held_run_closed_by_hand_stays_closed(listen):
    listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
    world.emit("a", SIX_HOURS[0])
    world.turn()
    holds.cancel(world.held("c", SIX_HOURS[0]), deed=ALICE, at=NOW)
    listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
    assert held() == {}
