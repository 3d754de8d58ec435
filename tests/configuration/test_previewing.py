"""What a preview tells of an edit: its effect on what is held, its problems, and what telling costs."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Dag, JournalEntry
from scheduling import configuration
from scheduling.algebra.errors import InvalidDefinition
from scheduling.configuration import previewing
from tests.configuration.changing import change, look, rollup
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW
from tests.sdk.writing import LATER, dag

pytestmark = pytest.mark.django_db

DAY = "RollupMapper(StartOfDayMapper(), DayWindow())"
BOTH = 'Asset("a") & Asset("b")'
SIX_HOURS = world.hours("2026-03-10", *range(6))


class TestEffect:
    def test_names_keys_that_would_not_count_any_more(self, listen):
        row = listen(assets=BOTH, at=NOW)
        world.emit("a", SIX_HOURS[0], "tw")
        world.turn()
        [lost] = look(row, default_mapper={"type": "StartOfDayMapper"}).effect.lost.first
        assert (lost.asset, lost.key) == ("a", "tw")
        assert "tw" in lost.reason

    def test_names_keys_of_an_asset_that_is_left_out(self, listen):
        row = listen(assets=BOTH, at=NOW)
        world.emit("b", "k")
        world.turn()
        effect = look(row, assets={"asset": "a"}).effect
        assert [each.reason for each in effect.lost.first] == ["the Dag would not listen to b"]
        assert effect.closes.first == ("k",)

    def test_names_keys_that_could_not_be_mapped_and_could_be_then(self, listen):
        row = listen("StartOfDayMapper()", at=NOW)
        world.emit("a", "tw")
        world.turn()
        effect = look(row, default_mapper={"type": "IdentityMapper"}).effect
        assert (effect.regained.first, effect.fires.first) == (("tw",), ("tw",))

    def test_fires_nothing_of_a_paused_dag(self, listen):
        row = listen(assets=BOTH, at=NOW)
        world.emit("a", "k")
        configuration.set_paused(row, True, deed=world.ALICE, at=NOW)
        world.turn()
        assert look(row, assets={"asset": "a"}).effect.fires.count == 0

    def test_settles_no_longer_for_a_change_and_says_when(self, listen):
        row = listen("RollupMapper(FixedKeyMapper('all'), SegmentWindow(['us', 'ap', 'eu']))", at=NOW)
        world.emit("a", "us", "ap", "eu")
        world.turn()
        late = LATER - world.MINUTE
        world.emit("a", "us", at=late)
        world.turn(late)
        [(key, until)] = look(row, default_mapper=rollup("us", "ap")).effect.settles.first
        assert (key, until) == ("all", late + 10 * world.MINUTE)
        change(row, default_mapper=rollup("us", "ap"))
        world.turn(LATER)
        held = world.held("c", "all")
        assert (held.verdict, held.judge_after) == ("settling", until)

    def test_of_no_change_is_nothing(self, listen):
        row = listen(assets=BOTH, at=NOW)
        world.emit("a", "k")
        world.turn()
        said = look(row)
        assert (said.is_change, said.effect.is_nothing, said.effect.held) == (False, True, 1)

    def test_counts_all_and_names_the_first(self, listen):
        row = listen("StartOfHourMapper()", assets=BOTH, at=NOW)
        world.emit("a", *world.hours("2026-03-10", *range(24)), *world.hours("2026-03-11", *range(6)))
        world.turn()
        effect = look(row, default_mapper={"type": "StartOfDayMapper"}, most=10).effect
        assert (effect.moves.count, len(effect.moves.first), effect.moves.more) == (30, 10, 20)
        assert effect.closes.count == 30

    def test_is_not_told_where_telling_would_take_too_long(self, listen, monkeypatch):
        row = listen(assets=BOTH, at=NOW)
        world.emit("a", "k", "l")
        world.turn()
        monkeypatch.setattr(previewing, "MOST_FORESEEN", 1)
        said = look(row, late="hold")
        assert (said.effect, said.counted) == (None, 2)

    def test_that_would_map_too_much_anew_is_not_worked_out(self, listen, monkeypatch):
        """What no held run has counted, because it could not be mapped, would be mapped with the rest."""
        row = listen(DAY, at=NOW)
        world.emit("a", "2026-03-10T01:00:00", "x", "y")
        world.turn()
        monkeypatch.setattr(previewing, "MOST_FORESEEN", 2)
        said = look(row, late="hold")
        assert (said.effect, said.counted, said.refused) == (None, 1, 2)
        monkeypatch.setattr(previewing, "MOST_FORESEEN", 3)
        assert look(row, late="hold").effect is not None


class TestProblems:
    def test_are_those_that_saving_finds(self, listen, directory):
        directory.write(
            "d",
            """
            days = PartitionedAssetTimetable(assets=Asset("out"), partition_mapper=StartOfDayMapper())
            DAG("d", schedule=days)
            """,
        )
        row = listen("StartOfHourMapper(output_format='%Y-%m-%dT%H:%M:%S')", assets=BOTH)
        fields = {
            "assets": {"all": [{"asset": "a"}, {"asset": "b"}, {"ref_name": "nowhere"}]},
            "mapper_config": [
                {"asset": {"asset": name}, "mapper": {"type": "FixedKeyMapper", "downstream_key": name}}
                for name in ("a", "b")
            ],
        }
        said = look(row, **fields)
        assert {each.code for each in said.problems} >= {"never-fires", "undefined-asset"}
        assert [name for name, _ in said.elsewhere] != []
        change(row, **fields)
        row.refresh_from_db()
        assert [each["sentence"] for each in row.problems] == [each.sentence for each in said.problems]
        assert [each["sentence"] for each in dag("d").problems] == [
            each.sentence for _, each in said.elsewhere
        ]

    def test_of_what_cannot_be_read_are_refusals(self, listen):
        with pytest.raises(InvalidDefinition) as refused:
            look(listen(), default_mapper={"type": "StartOfDayMapper", "timezone": "Mars"})
        assert refused.value.path == "default_mapper.timezone"


class TestCost:
    def queries(self, row: Dag, **fields: object) -> CaptureQueriesContext:
        with CaptureQueriesContext(connection) as seen:
            look(row, **fields)
        return seen

    def test_is_as_many_queries_however_much_is_held(self, listen):
        row = listen("StartOfHourMapper()", assets=BOTH, at=NOW)
        day = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 1}}
        world.emit("a", *world.hours("2026-03-10", 1, 2))
        world.emit("b", "2026-03-10T05:00:00")
        world.turn()
        few = len(self.queries(row, default_mapper=day))
        for number in range(11, 20):
            world.emit("a", *world.hours(f"2026-03-{number}", *range(24)))
            world.emit("b", f"2026-03-{number}T05:00:00")
        world.turn()
        assert look(row, default_mapper=day).effect.fires.count == 10
        assert len(self.queries(row, default_mapper=day)) == few

    def test_is_no_row_written(self, listen):
        row = listen("StartOfHourMapper()", assets=BOTH, at=NOW)
        world.emit("a", *SIX_HOURS)
        world.turn()
        entries = JournalEntry.objects.count()
        seen = self.queries(row, default_mapper={"type": "StartOfDayMapper"})
        assert {each["sql"].split()[0] for each in seen.captured_queries} == {"SELECT"}
        assert JournalEntry.objects.count() == entries
