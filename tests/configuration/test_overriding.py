from dataclasses import dataclass, replace

import pytest

from core.models import AssetEvent, ConsumedEvent, Dag, HeldRun, JournalEntry, ReceivedKey, ScheduleOverride
from scheduling import configuration, listening
from scheduling.algebra import registry
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import IdentityMapper
from scheduling.configuration import history
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW
from tests.sdk.writing import LATER, dag, listens, sentences

pytestmark = pytest.mark.django_db

DAY = "RollupMapper(StartOfDayMapper(), DayWindow(){})"
TOLERANT = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -1}}
WINDOW = {"type": "DayWindow"}
BOTH = 'Asset("a") & Asset("b")'


class TestAChange:
    def test_counts_at_once_and_fires_what_it_lets_fire(self, listen):
        """TC-32: 23 of 24 keys received, then one may be missing: it fires with those 23."""
        row = listen(DAY.format(""), at=NOW)
        hours = world.hours("2026-03-10", *range(23))
        world.emit("a", *hours)
        world.turn()
        assert world.fired("c") == []
        assert change(row, default_mapper=TOLERANT)
        world.turn(LATER)
        assert world.fired("c") == ["2026-03-10"]
        assert sorted(ReceivedKey.objects.values_list("key", flat=True)) == hours
        assert sorted(ConsumedEvent.objects.values_list("event__partition_key", flat=True)) == hours

    def test_writes_what_the_dag_listens_to(self, listen):
        row = listen(assets=BOTH)
        change(row, mapper_config=[{"asset": {"asset": "a"}, "mapper": TOLERANT}])
        assert listens("c") == [("a", "RollupMapper"), ("b", "IdentityMapper")]
        assert listening.of_dag(row).mapper(world.asset("a").pk).is_rollup

    def test_may_be_of_the_condition(self, listen):
        row = listen(assets=BOTH, at=NOW)
        world.emit("a", "k")
        world.turn()
        assert change(row, assets={"any": [{"asset": "a"}, {"asset": "b"}]})
        world.turn(LATER)
        assert world.fired("c") == ["k"]

    def test_of_every_other_part_is_kept(self, listen):
        row = listen()
        change(row, late="hold", settle=60, late_after=7200)
        assert row.schedule["late"] == "hold"
        timetable = listening.timetable_of(row)
        assert (timetable.settle.seconds, timetable.late_after.seconds) == (60, 7200)

    def test_has_a_new_revision_that_other_processes_notice(self, listen):
        row = listen()
        before, seen = row.edition, row.revision
        change(row, late="hold")
        assert row.revision == seen + 1
        assert row.edition != before

    def test_is_written_in_the_journal(self, listen):
        row = listen()
        was = row.schedule
        change(row, late="hold")
        entry = JournalEntry.objects.get(event="schedule changed")
        assert (entry.by, entry.via, entry.reason, entry.dag_id) == ("bob", "web", BOB.reason, "c")
        assert entry.extra == {"was": was, "now": row.schedule, "revision": row.revision}

    def test_to_what_is_there_changes_nothing(self, listen):
        row = listen(DAY.format(""))
        seen = row.revision
        assert not change(row, default_mapper=HOURS_TO_DAY | {"wait_policy": {"type": "WaitForAll"}})
        assert (row.revision, ScheduleOverride.objects.count()) == (seen, 0)
        assert not JournalEntry.objects.filter(event="schedule changed").exists()

    def test_keeps_what_has_fired(self, listen):
        row = listen(at=NOW)
        world.emit("a", *world.hours("2026-03-10", 1, 2))
        world.turn()
        change(row, default_mapper={"type": "StartOfDayMapper"})
        world.turn(LATER)
        assert world.fired("c") == world.hours("2026-03-10", 1, 2)
        assert HeldRun.objects.filter(state="fired").count() == 2

    def test_loses_nothing_that_was_received(self, listen):
        """TC-32: the window changes from a day to half a day: keys are filed anew, none is lost."""
        row = listen("RollupMapper(FixedKeyMapper('all'), SegmentWindow(['a', 'b', 'c', 'd']))", at=NOW)
        world.emit("a", "a", "b", "c")
        world.turn()
        halves = {
            "type": "RollupMapper",
            "upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "half"},
            "window": {"type": "SegmentWindow", "segments": ["a", "b", "x"]},
        }
        change(row, default_mapper=halves)
        world.turn(LATER)
        half = world.held("c", "half")
        assert sorted(half.received.values_list("key", flat=True)) == ["a", "b", "c"]
        assert AssetEvent.objects.count() == 3
        assert HeldRun.objects.get(partition_key="all").state == "superseded"

    def test_says_what_is_wrong_with_it_now(self, listen):
        row = listen(assets=BOTH)
        assert sentences("c") == []
        fixed = {"type": "FixedKeyMapper", "downstream_key": "x"}
        other = {"type": "FixedKeyMapper", "downstream_key": "y"}
        change(
            row,
            mapper_config=[
                {"asset": {"asset": "a"}, "mapper": fixed},
                {"asset": {"asset": "b"}, "mapper": other},
            ],
        )
        [sentence] = sentences("c")
        assert "can never" in sentence or "never" in sentence
        change(row, mapper_config=None)
        assert sentences("c") == []

    def test_says_what_is_wrong_with_those_that_it_feeds(self, listen, directory):
        directory.write(
            "d",
            """
            days = PartitionedAssetTimetable(assets=Asset("out"), partition_mapper=StartOfDayMapper())
            DAG("d", schedule=days)
            """,
        )
        row = listen("StartOfHourMapper(output_format='%Y-%m-%dT%H:%M:%S')")
        assert sentences("d") == []
        change(row, default_mapper={"type": "FixedKeyMapper", "downstream_key": "x"})
        assert sentences("d") != []

    def test_of_an_asset_nobody_defines_is_a_warning(self, listen):
        row = listen()
        change(row, assets={"all": [{"asset": "a"}, {"ref_name": "nowhere"}]})
        assert sentences("c", "warning") == ["nothing defines asset nowhere yet: its events cannot arrive"]


class TestAMapper:
    def test_of_one_asset_is_changed_alone(self, listen):
        row = listen(assets=BOTH)
        configuration.change_mapper(row, "b", TOLERANT, deed=BOB, at=LATER, revision=row.revision)
        assert listens("c") == [("a", "IdentityMapper"), ("b", "RollupMapper")]

    def test_of_an_asset_that_it_does_not_hear_is_refused(self, listen):
        row = listen()
        with pytest.raises(InvalidDefinition, match="does not listen to an asset 'z'"):
            configuration.change_mapper(row, "z", IDENTITY, deed=BOB, at=LATER, revision=row.revision)

    def test_that_is_none_is_refused_with_its_path(self, listen):
        row = listen()
        wrong = {"type": "StartOfDayMapper", "timezone": "Mars"}
        with pytest.raises(InvalidDefinition) as refused:
            configuration.change_mapper(row, "a", wrong, deed=BOB, at=LATER, revision=row.revision)
        assert refused.value.path == "mapper.timezone"


class TestRefusals:
    @pytest.mark.parametrize(
        ("mapper", "path"),
        [
            ({"type": "Nothing"}, "default_mapper.type"),
            (HOURS_TO_DAY | {"window": WINDOW | {"direction": "up"}}, "default_mapper.window.direction"),
            (HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 99}}, "default_mapper.wait_policy"),
            ({"type": "IdentityMapper", "colour": "red"}, "default_mapper.colour"),
        ],
    )  # fmt: skip
    def test_carry_the_path_of_what_is_wrong(self, listen, mapper, path):
        row = listen()
        with pytest.raises(InvalidDefinition) as refused:
            change(row, default_mapper=mapper)
        assert refused.value.path == path
        row.refresh_from_db()
        assert (row.revision, ScheduleOverride.objects.count()) == (1, 0)

    def test_another_kind_of_schedule(self, listen):
        row = listen()
        with pytest.raises(InvalidDefinition, match="is another"):
            configuration.change_schedule(
                row,
                {"type": "CronPartitionTimetable", "cron": "0 0 * * *"},
                deed=BOB,
                at=LATER,
                revision=row.revision,
            )

    def test_a_dag_that_listens_to_nothing(self, directory):
        directory.write("x", 'DAG("x", schedule=CronPartitionTimetable("0 0 * * *"))')
        directory.sync()
        row = dag("x")
        with pytest.raises(configuration.NotChangeable, match="in its file"):
            configuration.change_schedule(row, row.schedule, deed=BOB, at=LATER, revision=row.revision)

    def test_no_reason(self, listen):
        with pytest.raises(configuration.ReasonNeeded):
            change(listen(), deed=replace(BOB, reason="  "), late="hold")

    def test_a_dag_that_no_file_defines_any_more(self, listen, directory):
        row = listen()
        directory.remove("c")
        directory.sync(LATER)
        row.refresh_from_db()
        with pytest.raises(configuration.NotChangeable):
            change(row, late="hold")

    def test_a_class_that_raises_anything(self, listen, monkeypatch):
        @dataclass(frozen=True)
        class Exploding(IdentityMapper):
            def __post_init__(self):
                raise RuntimeError("no licence")

        monkeypatch.setitem(registry._KNOWN["mapper"], "Exploding", Exploding)
        with pytest.raises(InvalidDefinition, match="it cannot be read: RuntimeError: no licence"):
            change(listen(), default_mapper={"type": "Exploding"})


class TestTwoAtOnce:
    def test_the_second_is_refused_with_what_the_first_changed(self, listen):
        row = listen()
        seen = Dag.objects.get(pk=row.pk)
        change(row, late="hold")
        with pytest.raises(configuration.StaleSchedule) as refused:
            change(seen, deed=replace(BOB, by="eve"), late="restart")
        assert 'bob changed late: not set → "hold"' in str(refused.value)
        row.refresh_from_db()
        assert row.schedule["late"] == "hold"

    def test_it_is_told_all_that_has_changed_since(self, listen):
        row = listen()
        seen = Dag.objects.get(pk=row.pk)
        change(row, late="hold")
        change(row, deed=replace(BOB, by="amy"), settle=30)
        with pytest.raises(configuration.StaleSchedule) as refused:
            change(seen, late="restart")
        assert "amy, bob changed" in str(refused.value)
        assert "settle" in str(refused.value)

    def test_a_file_that_was_read_in_between_counts_as_one(self, listen):
        row = listen()
        listen("StartOfDayMapper()")
        with pytest.raises(configuration.StaleSchedule, match="definitions changed default_mapper"):
            change(row, late="hold")


class TestCode:
    def test_is_kept_beside_what_counts(self, listen):
        row = listen()
        said = row.schedule
        change(row, late="hold")
        assert row.override.code == said
        assert (row.override.by, row.override.reason) == ("bob", BOB.reason)

    def test_that_is_read_again_changes_nothing(self, listen):
        row = listen()
        change(row, late="hold")
        seen = row.revision
        row = listen()
        assert (row.schedule["late"], row.revision) == ("hold", seen)

    def test_that_changes_leaves_the_override_and_is_noted(self, listen):
        row = listen()
        change(row, default_mapper={"type": "StartOfHourMapper"})
        seen = row.revision
        row = listen("StartOfDayMapper()")
        assert listens("c") == [("a", "StartOfHourMapper")]
        assert row.override.code["default_mapper"]["type"] == "StartOfDayMapper"
        assert row.revision == seen + 1
        entry = JournalEntry.objects.get(event="code schedule changed")
        assert (entry.by, entry.extra["now"]) == ("definitions", row.override.code)

    def test_may_change_all_else_of_an_overridden_dag(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.write(
            "c", 'DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a")), max_active_runs=3)'
        )
        directory.sync(LATER)
        row.refresh_from_db()
        assert (row.max_active_runs, row.schedule["late"]) == (3, "hold")

    def test_that_ticks_now_leaves_the_override(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.write("c", 'DAG("c", schedule=CronPartitionTimetable("0 0 * * *"))')
        directory.sync(LATER)
        row.refresh_from_db()
        assert (row.is_periodic, row.schedule["late"]) == (False, "hold")
        configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert row.is_periodic
        assert listens("c") == []
        world.turn(LATER)
        assert world.fired("c") == []

    def test_comes_back(self, listen):
        row = listen()
        said = row.schedule
        change(row, late="hold")
        assert configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert (row.schedule, ScheduleOverride.objects.count()) == (said, 0)
        assert JournalEntry.objects.get(event="schedule back to code").extra["now"] == said

    def test_comes_back_only_from_an_override(self, listen):
        row = listen()
        assert not configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)

    def test_said_by_hand_is_no_override(self, listen):
        row = listen()
        change(row, late="hold")
        change(row, late=None)
        assert ScheduleOverride.objects.count() == 0
        assert listening.timetable_of(row).default_partition_mapper == IdentityMapper()

    def test_of_a_dag_that_comes_back_finds_its_override(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.remove("c")
        directory.sync(LATER)
        assert listen().schedule["late"] == "hold"

    def test_is_the_way_out_of_an_override_that_cannot_be_read(self, listen):
        """The package of a plug-in went: the Dag says so, keeps what it held, and can go back."""
        row = listen()
        change(row, late="hold")
        broken = row.schedule | {"default_mapper": {"type": "GoneMapper"}}
        Dag.objects.filter(pk=row.pk).update(schedule=broken)
        row = listen(fits=False)
        assert row.schedule == broken
        assert any("GoneMapper" in each for each in sentences("c"))
        configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert sentences("c") == []


class TestHistory:
    def test_tells_who_when_why_and_what(self, listen):
        row = listen()
        change(row, late="hold")
        change(row, deed=replace(BOB, by="amy", reason="no"), at=LATER + world.MINUTE, late="restart")
        last, first = history.versions(row)
        assert (last.by, last.reason, last.at) == ("amy", "no", LATER + world.MINUTE)
        assert [each.sentence() for each in last.differences()] == ['late: "hold" → "restart"']
        assert [each.sentence() for each in first.differences()] == ['late: not set → "hold"']
        assert (first.revision, last.revision) == (2, 3)

    def test_lets_a_change_be_taken_back(self, listen):
        row = listen()
        was = row.schedule
        change(row, late="hold")
        [version] = history.versions(row)
        again = history.version(row, version.pk)
        configuration.change_schedule(row, again.was, deed=BOB, at=LATER, revision=row.revision)
        assert row.schedule == was

    def test_has_what_the_file_said_beside_it(self, listen):
        row = listen()
        change(row, late="hold")
        listen("StartOfDayMapper()")
        aside, changed = history.versions(row)
        assert (aside.is_aside, changed.is_aside) == (True, False)

    def test_of_another_dag_is_not_found(self, listen, directory):
        row = listen()
        change(row, late="hold")
        [version] = history.versions(row)
        directory.write("d", 'DAG("d", schedule=None)')
        directory.sync(LATER)
        assert history.version(dag("d"), version.pk) is None
