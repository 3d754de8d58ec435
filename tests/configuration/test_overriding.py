"""How a Dag listens is changed by people: at once, without loss, or refused in words."""

from dataclasses import dataclass, replace

import pytest

from core.models import AssetEvent, ConsumedEvent, HeldRun, JournalEntry, ReceivedKey, ScheduleOverride
from scheduling import configuration, listening
from scheduling.algebra import registry
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import IdentityMapper
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
