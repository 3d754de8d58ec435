from datetime import timedelta

import pytest

from core.models import ConsumedEvent, HeldRun, JournalEntry, MappingProblem, ReceivedKey
from scheduling import holds
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.sdk.writing import LATER, Directory

pytestmark = pytest.mark.django_db


@pytest.fixture
def listen(tmp_path):
    """Define the Dag `c` anew, listening to `assets` through `mapper`, and let the engine turn."""
    directory = Directory(tmp_path)

    def define(mapper: str, *, assets: str = 'Asset("a")', at=LATER, fits=True) -> None:
        directory.write(
            "c",
            f"""DAG("c", schedule=PartitionedAssetTimetable(assets={assets}, partition_mapper={mapper}))""",
        )
        report = directory.sync(at)
        assert report.ok is fits, report.troubles
        world.turn(at)

    return define


def held() -> dict[str, list[str]]:
    """The keys received by each open held run."""
    return {
        row.partition_key: sorted(row.received.values_list("key", flat=True))
        for row in HeldRun.objects.held()
    }


def consumed(key: str) -> list[str | None]:
    events = ConsumedEvent.objects.filter(held_run__dag__dag_id="c", held_run__partition_key=key)
    return sorted(events.values_list("event__partition_key", flat=True))


DAY = "RollupMapper(StartOfDayMapper(), DayWindow(){})"
SIX_HOURS = world.hours("2026-03-10", *range(6))


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


class TestLaterRounds:
    def test_keep_what_is_fresh_and_what_is_carried(self, listen):
        """After a first firing one late key is fresh; a change of the policy must not make the others so."""
        rollup = 'RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]){})'
        listen(rollup.format(""), at=NOW)
        world.emit("a", "tw", "jp", "us")
        world.turn()
        world.emit("a", "tw", at=NOW + world.MINUTE)
        world.turn(NOW + world.MINUTE)
        row = world.held("c", "all")
        assert row.round == 2
        before = set(row.received.values_list("key", "is_fresh"))
        listen(rollup.format(", wait_policy=MinimumCount(-1)"), at=NOW + 2 * world.MINUTE)
        row.refresh_from_db()
        assert set(row.received.values_list("key", "is_fresh")) == before
        assert row.verdict == "settling"

    def test_settle_no_longer_for_a_change(self, listen):
        """A change is no event: the ten minutes count from the late key."""
        rollup = 'RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]){})'
        listen(rollup.format(""), at=NOW)
        world.emit("a", "tw", "jp", "us")
        world.turn()
        late = NOW + world.MINUTE
        world.emit("a", "tw", at=late)
        world.turn(late)
        listen(rollup.format(", wait_policy=MinimumCount(-1)"), at=NOW + 9 * world.MINUTE)
        row = world.held("c", "all")
        assert (row.last_event_at, row.judge_after) == (late, late + 10 * world.MINUTE)

    def test_settle_from_the_last_key_that_moved_to_them(self, listen):
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", SIX_HOURS[0])
        world.turn()
        world.emit("a", SIX_HOURS[0], at=NOW + world.MINUTE)
        world.turn(NOW + world.MINUTE)
        listen("StartOfMonthMapper()", assets='Asset("a") & Asset("b")', at=NOW + 5 * world.MINUTE)
        assert world.held("c", "2026-03").last_event_at == NOW + world.MINUTE


def test_a_held_run_closed_by_hand_stays_closed(listen):
    listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
    world.emit("a", SIX_HOURS[0])
    world.turn()
    holds.cancel(world.held("c", SIX_HOURS[0]), deed=ALICE, at=NOW)
    listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
    assert held() == {}


class TestProblems:
    def test_a_key_that_cannot_be_mapped_any_more_is_shown_as_one(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", "2026-03-10T09:00:00", "tw")
        world.turn()
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
        problem = MappingProblem.objects.get()
        assert (problem.event.partition_key, problem.dag.dag_id) == ("tw", "c")
        assert JournalEntry.objects.filter(event=problem.kind, partition_key="tw").count() == 1

    def test_what_an_edit_lost_comes_back_with_the_next(self, listen):
        both = 'Asset("a") & Asset("b")'
        listen("IdentityMapper()", assets=both, at=NOW)
        world.emit("a", "tw")
        world.turn()
        listen("StartOfDayMapper()", assets=both, fits=False)
        assert held() == {}
        listen("IdentityMapper()", assets=both)
        assert held() == {"tw": ["tw"]}
        assert not MappingProblem.objects.exists()

    def test_a_key_that_could_not_be_mapped_counts_once_it_can(self, listen):
        listen("StartOfDayMapper()", at=NOW)
        world.emit("a", "tw")
        world.turn()
        assert MappingProblem.objects.count() == 1
        listen("IdentityMapper()")
        assert world.fired("c") == ["tw"]
        assert not MappingProblem.objects.exists()

    def test_one_that_still_cannot_is_told_once(self, listen):
        listen("StartOfDayMapper()", at=NOW)
        world.emit("a", "tw")
        world.turn()
        listen("StartOfHourMapper()", fits=False)
        assert MappingProblem.objects.count() == 1
        assert JournalEntry.objects.filter(event="failed to map partition_key").count() == 1


class TestLateRounds:
    def test_what_only_marks_late_keys_now_waits_no_more(self, listen):
        listen("IdentityMapper(), settle='1h'", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", "k")
        world.emit("b", "k")
        world.turn()
        world.emit("a", "k", at=LATER)
        world.turn(LATER)
        assert held() == {"k": ["k", "k"]}
        listen("IdentityMapper(), late='mark_stale'", assets='Asset("a") & Asset("b")')
        assert held() == {}
        assert HeldRun.objects.get(round=2).state == "superseded"
