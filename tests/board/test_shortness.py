"""Partitions whose run a person fired without some of its keys: which they are, and how grids mark them."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduling import board, holds
from scheduling.board import Look
from scheduling.board.grids import lay_out
from scheduling.board.shortness import short_among, short_keys
from tests.board.drawing import cells, hours
from tests.engine import world
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    MINUTE,
    NOW,
    asset,
    consumer,
    emit,
    finish,
    held,
    start,
    turn,
)


def squares_of(grid):
    return [cell for group in grid.groups for row in group.rows for box in row.boxes for cell in box]


class TestMarks:
    def test_a_square_of_many_is_marked_if_one_of_them_is_short(self):
        keys = hours("2026-03-01T00", 24 * 60)
        found = cells(keys, dict.fromkeys(keys, Look.MATERIALIZED))
        short = short_among(found, {"2026-03-05T07"})
        marked = [cell for cell in squares_of(lay_out(found, short=short)) if cell.is_short]
        assert [cell.words for cell in marked] == ["2026-03-05: 24 materialized, fired without some keys"]
        assert not any(cell.is_short for cell in squares_of(lay_out(found)))

    def test_what_has_no_data_is_not_short(self):
        keys = hours("2026-03-01T00", 24)
        assert short_among(cells(keys, {keys[3]: Look.FAILED}), {keys[3], keys[4]}) == ()


@pytest.mark.django_db
class TestKeys:
    @pytest.fixture
    def fired(self):
        daily = {"type": "TimePartitions", "cadence": "day", "start": "2026-03-01T00:00:00+00:00"}
        asset("daily", partitions=daily)
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *world.hours("2026-03-09", 1), *world.hours("2026-03-08", *range(24)))
        turn()
        run = start(holds.fire_now(held("sum", "2026-03-09"), deed=ALICE, at=NOW))
        finish(run, "daily", keys=["2026-03-09"])
        return run

    def test_are_those_that_a_person_fired_short(self, fired):
        assert short_keys([asset("daily"), asset("hourly")]) == {asset("daily").pk: {"2026-03-09"}}

    def test_stand_among_the_cells_of_a_definition(self, fired):
        found = board.read([asset("daily")], now=NOW)[asset("daily").pk].cells
        [at] = board.short_among(found, {"2026-03-09", "2026-03-08", "never"})
        assert found.places[at].key == "2026-03-09"

    def test_are_whole_again_when_somebody_else_has_filled_them(self, fired):
        emit("daily", "2026-03-09", at=NOW + MINUTE)
        assert short_keys([asset("daily")]) == {}

    def test_are_none_where_a_wait_policy_was_content(self):
        rollup = {**HOURS_TO_DAY, "wait_policy": {"type": "MinimumCount", "n": 2}}
        consumer("sum", {"hourly": rollup}, writes=["daily"])
        emit("hourly", *world.hours("2026-03-09", 1, 2))
        turn()
        [run] = world.DagRun.objects.all()
        finish(start(run), "daily", keys=["2026-03-09"])
        assert len(run.missing_keys[0]["keys"]) == 22
        assert short_keys([asset("daily")]) == {}

    def test_are_asked_for_once_where_there_are_none(self):
        assets = [asset(f"a{number}") for number in range(5)]
        with CaptureQueriesContext(connection) as found:
            assert short_keys(assets) == {}
        assert len(found) == 1

    @pytest.mark.skipif(connection.vendor != "sqlite", reason="PostgreSQL knows how many there are")
    def test_are_found_by_their_runs_however_many_partitions_the_asset_has(self, fired):
        with CaptureQueriesContext(connection) as found:
            short_keys([asset("daily")])
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {found[-1]['sql']}")
            [(*_, plan)] = cursor.fetchall()
        assert "partition_of_outcome" in plan
