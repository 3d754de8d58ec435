"""Edits of definitions, one by one: the preview says what each does, then saving does it."""

import pytest

from core.models import BackfillPartition, DagRun, HeldRun, ReceivedKey
from scheduling import backfills
from scheduling.board import universe
from scheduling.configuration.previewing import Move
from tests.backfills import play
from tests.configuration.changing import change, look, rollup
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW
from tests.sdk.writing import LATER

pytestmark = pytest.mark.django_db
DAY = "RollupMapper(StartOfDayMapper(), DayWindow())"
BOTH = 'Asset("a") & Asset("b")'


class TestDefinitionEdits:
    """TC-32, row by row: the preview says it, then saving does it."""

    def test_a_looser_policy_fires_with_what_is_there(self, listen):
        row = listen(DAY, at=NOW)
        world.emit("a", *world.hours("2026-03-10", *range(23)))
        world.turn()
        tolerant = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -1}}
        said = look(row, default_mapper=tolerant)
        assert (said.effect.fires.first, said.effect.closes.count) == (("2026-03-10",), 0)
        assert [each.sentence() for each in said.differences] == [
            "default_mapper.wait_policy: not set → MinimumCount(n=-1)"
        ]
        assert world.fired("c") == []
        change(row, default_mapper=tolerant)
        world.turn(LATER)
        assert world.fired("c") == ["2026-03-10"]
        assert ReceivedKey.objects.count() == 23

    def test_a_shorter_window_files_every_key_anew(self, listen):
        row = listen("RollupMapper(FixedKeyMapper('all'), SegmentWindow(['a', 'b', 'c', 'd']))", at=NOW)
        world.emit("a", "a", "b", "c")
        world.turn()
        halves = rollup("a", "b") | {"upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "half"}}
        effect = look(row, default_mapper=halves).effect
        assert effect.moves.first == (Move("all", ("half",)),)
        assert (effect.opens.first, effect.fires.first, effect.closes.first) == (
            ("half",),
            ("half",),
            ("all",),
        )
        assert effect.lost.count == 0
        change(row, default_mapper=halves)
        assert sorted(ReceivedKey.objects.values_list("key", flat=True)) == ["a", "b", "c"]

    def test_an_earlier_start_is_one_more_missing_partition_and_no_run(self, directory):
        """It is the file's to say; a schedule's override is not touched by it, and nothing runs."""
        text = """
            days = Asset("days", partitions=DailyPartitions("{}", end="2026-03-06"))
            DAG("c", schedule=PartitionedAssetTimetable(assets=days))
            """
        directory.write("c", text.format("2026-03-03"))
        directory.sync()
        before = expected("days")
        directory.write("c", text.format("2026-03-02"))
        directory.sync(LATER)
        world.turn(LATER)
        assert expected("days") - before == {"2026-03-02"}
        assert DagRun.objects.count() == 0

    def test_another_zone_or_format_names_every_key_that_changes(self, listen):
        row = listen("StartOfDayMapper()", assets=BOTH, at=NOW)
        world.emit("a", *(f"2026-03-{day:02}T20:00:00" for day in range(1, 10)))
        world.turn()
        zone = {"type": "StartOfDayMapper", "timezone": "Asia/Taipei", "input_format": "%Y-%m-%dT%H:%M:%S"}
        form = {"type": "StartOfDayMapper", "output_format": "%d.%m.%Y"}
        assert look(row, default_mapper=zone).effect.moves.count == 0  # keys without an offset are local
        effect = look(row, default_mapper=form).effect
        assert effect.moves.count == 9
        assert effect.moves.first[0] == Move("2026-03-01", ("01.03.2026",))
        change(row, default_mapper=form)
        assert set(HeldRun.objects.held().values_list("partition_key", flat=True)) == {
            to for move in effect.moves.first for to in move.to
        }

    def test_a_list_without_a_region_fires_what_only_waited_for_it(self, listen):
        row = listen("RollupMapper(FixedKeyMapper('all'), SegmentWindow(['us', 'ap', 'eu']))", at=NOW)
        world.emit("a", "us", "ap")
        world.turn()
        assert look(row, default_mapper=rollup("us", "ap")).effect.fires.first == ("all",)
        change(row, default_mapper=rollup("us", "ap"))
        world.turn(LATER)
        assert world.fired("c") == ["all"]

    def test_a_running_backfill_keeps_the_keys_it_has(self, listen):
        row = listen("StartOfDayMapper()", at=NOW)
        days = ("2026-03-01", "2026-03-02")
        world.emit("a", *(f"{day}T09:00:00" for day in days))
        world.turn()
        for run in DagRun.objects.all():
            world.finish(world.start(run), "out")
        started = play.begin(row, keys=days, reprocess=backfills.Reprocess.COMPLETED)
        change(row, default_mapper={"type": "StartOfDayMapper", "output_format": "%d.%m.%Y"})
        kept = BackfillPartition.objects.filter(target__backfill=started).values_list("key", flat=True)
        assert sorted(kept) == list(days)


def expected(name: str) -> set[str]:
    row = world.asset(name)
    return set(universe.of_assets([row], now=LATER)[row.pk].keys)
