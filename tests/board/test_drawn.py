"""What is read is what was drawn and, over it, what was not: exact, and cheap where most is drawn."""

import sqlite3
from contextlib import contextmanager
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Drawing, DrawnBlock, Partition
from core.models.drawings import BLOCK
from scheduling import drawings
from scheduling.algebra import specs
from scheduling.board import Look, blocks, changes, drawn, read, reading
from scheduling.board.defined import Defined
from scheduling.board.orders import Listed
from scheduling.sdk import DailyPartitions, MinutelyPartitions
from tests.engine.world import HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

DAYS = specs.dump(DailyPartitions("2026-03-01"))


def cells_of(name, now=NOW):
    return read([asset(name)], now=now)[asset(name).pk].cells


def looks_of(name):
    cells = cells_of(name)
    return {place.key: cells.look(at) for at, place in enumerate(cells.places)}


def in_haste(*names):
    found = read([asset(name) for name in names], now=NOW, patient=False)
    return [found[asset(name).pk] for name in names]


def draw():
    while drawings.draw(now=NOW):
        pass


def statements(name):
    cells_of(name)
    with CaptureQueriesContext(connection) as found:
        cells_of(name)
    return [query["sql"] for query in found if 'FROM "core_partition" WHERE' in query["sql"]]


@contextmanager
def few_values(most):
    """A statement of SQLite may have so many values only."""
    if connection.vendor != "sqlite":
        yield
        return
    before = connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, most)
    try:
        yield
    finally:
        connection.connection.setlimit(sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER, before)


class TestReading:
    def test_what_is_drawn_is_not_read_row_by_row(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        assert "is_undrawn" not in statements("daily")[0]
        draw()
        [only] = statements("daily")
        assert "is_undrawn" in only

    def test_what_came_after_the_drawing_is_put_over_it(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        draw()
        emit("daily", "2026-03-04")
        Partition.objects.filter(key="2026-03-09").update(attempt="failed")
        found = looks_of("daily")
        assert (found["2026-03-04"], found["2026-03-09"]) == (Look.MATERIALIZED, Look.FAILED)
        assert cells_of("daily").tally.words == "1 materialized, 8 missing, 1 failed"

    def test_very_many_changes_are_read_as_a_whole(self, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_PATCHES", 3)
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("daily", "2026-03-01")
        draw()
        emit("daily", *(f"2026-03-{day:02}" for day in range(2, 8)))
        emit("hourly", *hours("2026-03-09", 3), *hours("2026-03-01", 3))
        turn()
        found = looks_of("daily")
        assert len(found) == 8
        assert found["2026-03-09"] is Look.HELD

    def test_who_has_no_time_is_told_that_much_is_being_drawn(self, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_READ", 3)
        emit("daily", *(f"2026-03-0{day}" for day in range(1, 5)))
        emit("small", *(f"2026-03-0{day}" for day in range(1, 4)))
        found = in_haste("daily", "small")
        assert [(each.lack, each.cells.tally.total) for each in found] == [("everything", 0), ("", 3)]
        assert len(looks_of("daily")) == 4  # whoever has the time reads all
        assert in_haste("daily")[0].lack == "everything"
        draw()
        assert [(each.lack, each.cells.tally.total) for each in in_haste("daily")] == [("", 4)]

    def test_who_has_no_time_is_shown_what_was_drawn_and_told_of_many_changes(self, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_PATCHES", 3)
        emit("daily", "2026-03-01")
        emit("other", "2026-03-01")
        draw()
        emit("daily", *(f"2026-03-0{day}" for day in range(2, 5)))
        assert [(each.lack, each.cells.tally.total) for each in in_haste("daily")] == [("", 4)]
        emit("daily", "2026-03-05")
        emit("other", "2026-03-02")
        found = in_haste("daily", "other")
        assert [(each.lack, each.cells.tally.total) for each in found] == [("changes", 1), ("", 2)]
        draw()
        assert [(each.lack, each.cells.tally.total) for each in in_haste("daily")] == [("", 5)]

    def test_many_held_runs_are_many_changes(self, monkeypatch):
        monkeypatch.setattr(drawn, "MOST_PATCHES", 1)
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("daily", "2026-03-01")
        draw()
        emit("hourly", *hours("2026-03-08", 3), *hours("2026-03-09", 3))
        turn()
        assert [(each.lack, each.cells.tally.total) for each in in_haste("daily")] == [("changes", 1)]
        assert looks_of("daily")["2026-03-09"] is Look.HELD

    def test_many_changes_of_several_assets_are_not_asked_for_in_one_statement(self, monkeypatch):
        """A statement holds so many values: 32,766 in SQLite."""
        monkeypatch.setattr(changes, "PORTION", 20)
        names, days = ("daily", "second", "third"), range(1, 31)
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=names)
        for name in names:
            emit(name, "2026-04-01")
        draw()
        emit("hourly", *(key for day in days for key in hours(f"2026-03-{day:02}", 3)))
        turn()
        assets = [asset(name) for name in names]
        with few_values(50):
            found = read(assets, now=NOW)
        for each in assets:
            assert found[each.pk].cells.tally.words == "1 materialized, 30 held"

    def test_a_drawing_of_another_definition_is_not_looked_at(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        draw()
        other = specs.dump(DailyPartitions("2026-03-08"))
        asset("daily").__class__.objects.filter(name="daily").update(partitions=other)
        assert looks_of("daily") == {
            "2026-03-08": Look.MISSING,
            "2026-03-09": Look.MATERIALIZED,
            "2026-03-10": Look.MISSING,
        }

    def test_a_block_that_somebody_draws_meanwhile_is_looked_at_again(self, monkeypatch):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        draw()
        emit("daily", "2026-03-08")
        looked = blocks._editions
        turns = []

        def meanwhile(*given):
            found = looked(*given)
            if not turns:
                turns.append(draw())
            return found

        monkeypatch.setattr(blocks, "_editions", meanwhile)
        assert looks_of("daily")["2026-03-08"] is Look.MATERIALIZED
        assert turns

    def test_a_block_is_kept_once_however_often_it_is_drawn(self):
        blocks._kept.clear()
        for number in range(5):
            emit("loose", f"key {number}")
            draw()
            assert len(looks_of("loose")) == number + 1
        assert len(blocks._kept) == 1

    def test_no_more_is_kept_than_there_is_room_for(self, monkeypatch):
        monkeypatch.setattr(blocks, "MOST_KEPT", 250)
        monkeypatch.setattr(reading, "MOST_KEPT", 700)
        for name in "abcdef":
            emit(name, "one", "two")
        draw()
        for _ in range(2):
            assert [looks_of(name) for name in "abcdef"] == [
                dict.fromkeys(("one", "two"), Look.MATERIALIZED)
            ] * 6
            assert sum(each.weight for each in blocks._kept.values()) <= 250
            assert sum(each.weight for each in reading._kept.values()) <= 700

    def test_time_needs_no_new_drawing(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-03-09")
        draw()
        uid = Drawing.objects.get(asset__name="daily").uid
        assert cells_of("daily", NOW + timedelta(days=400)).tally.total == 410
        drawings.draw(now=NOW + timedelta(days=400))
        assert Drawing.objects.get(asset__name="daily").uid == uid


class TestOrders:
    def test_a_definition_of_time_is_worked_out(self):
        asset("daily", partitions=DAYS)
        assert isinstance(cells_of("daily").places, Defined)

    def test_keys_of_nobody_are_listed_among_few(self):
        asset("daily", partitions=DAYS)
        emit("daily", "2026-02-01")
        cells = cells_of("daily")
        assert isinstance(cells.places, Listed)
        assert (cells.places[0].key, cells.unexpected) == ("2026-02-01", {"2026-02-01"})

    def test_and_stand_apart_from_very_many(self):
        asset("minutes", partitions=specs.dump(MinutelyPartitions("2026-01-01")))
        emit("minutes", "2025-12-31T23:59", "2026-01-01T00:00")
        draw()
        cells = cells_of("minutes")
        assert isinstance(cells.places, Defined)
        assert cells.apart == {"2025-12-31T23:59": Look.MATERIALIZED}
        assert cells.unexpected == {"2025-12-31T23:59"}
        assert cells.tally[Look.MATERIALIZED] == 1

    def test_blocks_are_only_as_long_as_what_was_drawn(self):
        asset("minutes", partitions=specs.dump(MinutelyPartitions("2026-01-01")))
        emit("minutes", "2026-01-01T00:05")
        draw()
        [block] = DrawnBlock.objects.all()
        assert bytes(block.looks) == bytes([Look.MISSING] * 5 + [Look.MATERIALIZED])
        assert cells_of("minutes").tally.total > BLOCK
