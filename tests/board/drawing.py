"""Cells out of a few words."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from scheduling.board.cells import Cells, Look
from scheduling.board.labels import places
from scheduling.board.orders import Listed


def cells(
    keys: Sequence[str], looks: Mapping[str, Look] | Look = Look.MATERIALIZED, unexpected: Sequence[str] = ()
) -> Cells:
    """Cells of `keys`, which stand in the order of their labels; keys that `looks` leaves out are missing."""
    if isinstance(looks, Look):
        looks = dict.fromkeys(keys, looks)
    found = sorted(places(keys), key=lambda place: place.label)
    shown = bytes(looks.get(place.key, Look.MISSING) for place in found)
    return Cells(Listed(found), shown, frozenset(unexpected))


def hours(start: str, count: int) -> list[str]:
    first = datetime.fromisoformat(start)
    return [f"{first + timedelta(hours=number):%Y-%m-%dT%H}" for number in range(count)]


def days(start: str, count: int) -> list[str]:
    first = datetime.fromisoformat(start)
    return [f"{first + timedelta(days=number):%Y-%m-%d}" for number in range(count)]
