"""Partitions whose held run is overdue: which they are, and how bars and grids mark them."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import HeldRun
from scheduling import board
from scheduling.board import Look
from scheduling.board.bars import draw
from scheduling.board.grids import lay_out
from scheduling.board.lateness import late_among, late_keys
from tests.board.drawing import cells, days, hours
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW, asset, consumer, emit, turn

LATER = NOW + timedelta(days=30)


def squares_of(grid):
    return [cell for row in grid.groups[0].rows for box in row.boxes for cell in box]


class TestMarks:
    def drawn(self, late, count=30, **options):
        keys = days("2026-03-01", count)
        found = cells(keys, dict.fromkeys(keys, Look.HELD) | {keys[0]: Look.MATERIALIZED})
        return found, late_among(found, late)

    def test_a_late_column_is_marked_over_whatever_it_shows(self):
        found, late = self.drawn(["2026-03-05", "2026-03-07"])
        bar = draw(found, late=late)
        assert re.findall(r"M(\d+) 0h1v2", bar.late) == ["4", "6"]
        assert bar.words.startswith("1 materialized, 29 held, 2 late; from")

    def test_what_has_data_is_not_late(self):
        found, late = self.drawn(["2026-03-01"])
        assert late == ()
        assert draw(found, late=late).late == ""

    def test_a_zoomed_bar_marks_only_its_own(self):
        found, late = self.drawn(["2026-03-05", "2026-04-02"], 60)
        assert draw(found, "2026-04", late=late).late_count == 1
        assert re.findall(r"M(\d+) ", draw(found, "2026-04", late=late).late) == ["1"]

    def test_one_among_very_many_is_still_seen(self):
        keys = hours("2020-01-01T00", 50_000)
        found = cells(keys, dict.fromkeys(keys, Look.HELD))
        late = late_among(found, {keys[-7]})
        assert re.findall(r"M(\d+) ", draw(found, late=late).late) == ["399"]

    def test_a_square_of_one_is_marked_and_said(self):
        found, late = self.drawn(["2026-03-05"])
        squares = [
            cell for row in lay_out(found, late=late).groups[0].rows for box in row.boxes for cell in box
        ]
        assert [cell.key for cell in squares if cell.is_late] == ["2026-03-05"]
        assert squares[4].words == "2026-03-05: held, late"

    def test_a_square_of_many_is_marked_if_one_of_them_is_late(self):
        keys = hours("2026-03-01T00", 24 * 60)
        found = cells(keys, dict.fromkeys(keys, Look.HELD))
        late = late_among(found, {"2026-03-05T07"})
        squares = [
            cell for row in lay_out(found, late=late).groups[0].rows for box in row.boxes for cell in box
        ]
        assert [cell.zoom for cell in squares if cell.is_late] == ["2026-03-05"]

    def test_what_is_kept_of_one_moment_does_not_show_in_the_next(self):
        found, late = self.drawn(["2026-03-05"])
        draw(found, late=late), lay_out(found, late=late)
        assert draw(found).late == ""
        assert not any(
            cell.is_late for row in lay_out(found).groups[0].rows for box in row.boxes for cell in box
        )


@pytest.mark.django_db
class TestKeys:
    @pytest.fixture
    def waiting(self, db):
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        began = datetime(2026, 3, 1, tzinfo=UTC)
        world.dag("ingest", hourly, writes=["hourly"], start_date=began, is_paused=True)
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"], late_after=1800)
        emit("hourly", "2026-03-08T01:00:00", "2026-03-10T01:00:00")
        turn()

    def test_are_those_of_late_held_runs_of_the_dags_that_write_the_asset(self, waiting):
        assert HeldRun.objects.late(NOW).count() == 2
        HeldRun.objects.filter(partition_key="2026-03-10").update(late_at=LATER)
        assert late_keys([asset("daily"), asset("hourly")], now=NOW) == {asset("daily").pk: {"2026-03-08"}}
        assert late_keys([asset("daily")], now=LATER)[asset("daily").pk] == {"2026-03-08", "2026-03-10"}

    def test_are_asked_for_once_where_nothing_is_late(self, db):
        assets = [asset(f"a{number}") for number in range(5)]
        with CaptureQueriesContext(connection) as found:
            assert late_keys(assets, now=NOW) == {}
        assert len(found) == 1

    def test_stand_among_the_cells(self, waiting):
        read = board.read([asset("daily")], now=NOW)[asset("daily").pk].cells
        late = board.late_among(read, {"2026-03-08"})
        assert [read.places[at].key for at in late] == ["2026-03-08"]
