"""On what grounds ticks may differ, found with the standard library alone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from tests.conformance.vectors import Answer, Vector

Row = list[Any]

_NEAR = timedelta(hours=3)


def offset_written(vector: Vector, ours: Answer) -> bool:
    """Only the offsets at the end of our keys are more, and nobody asked for another format."""
    rows = _rows(vector, ours)
    if rows is None or vector.case["timetable"].get("key_format"):
        return False
    mine, theirs = rows
    return [_without_offset(row) for row in mine] == theirs


def date_of_the_key(vector: Vector, ours: Answer) -> bool:
    """Ticks and keys are the same; our date is one for each key, and no later than the tick's own."""
    rows = _rows(vector, ours)
    if rows is None:
        return False
    mine, theirs = rows
    dates: dict[str, set[str]] = {}
    for row in mine:
        dates.setdefault(row[1], set()).add(row[2])
    return (
        [row[:2] for row in mine] == [row[:2] for row in theirs]
        and all(len(found) == 1 for found in dates.values())
        and all(left[2] <= right[2] for left, right in zip(mine, theirs, strict=True))
    )


def clocks_change(vector: Vector, ours: Answer) -> bool:
    """Ticks differ only around a change of clocks; elsewhere only as the other grounds allow."""
    rows = _rows(vector, ours)
    if rows is None:
        return False
    zone = ZoneInfo(vector.case["timetable"]["timezone"])
    mine, theirs = ({row[0]: row for row in side} for side in rows)
    moved = mine.keys() ^ theirs.keys()
    plain = not vector.case["timetable"].get("key_format")
    kept = [(mine[at], theirs[at]) for at in mine.keys() & theirs.keys()]
    same = all(
        (_without_offset(left) if plain else left)[1] == right[1] or _near_change(left[0], zone)
        for left, right in kept
    )
    return bool(moved) and same and all(_near_change(at, zone) for at in moved)


def _rows(vector: Vector, ours: Answer) -> tuple[list[Row], list[Row]] | None:
    if "runs" not in ours or "runs" not in vector.expect:
        return None
    mine, theirs = ours["runs"], vector.expect["runs"]
    return [row for row in mine if row], [row for row in theirs if row]


def _without_offset(row: Row) -> Row:
    return [row[0], re.sub(r"[+-]\d{4}$", "", row[1]), row[2]]


def _near_change(text: str, zone: ZoneInfo) -> bool:
    at = datetime.fromisoformat(text)
    return (at - _NEAR).astimezone(zone).utcoffset() != (at + _NEAR).astimezone(zone).utcoffset()
