"""Partitions one below the other: those of a period, of one state, or those that nobody expects."""

from collections.abc import Sequence
from dataclasses import dataclass

from scheduling.board.cells import Cells, Look
from scheduling.board.excerpts import Excerpt
from scheduling.board.room import room_for


@dataclass(frozen=True, slots=True)
class KeyLine:
    key: str
    look: Look
    outside: str = ""
    """In which way the definition does not have it, in words."""


def listed(
    cells: Cells,
    zoom: str = "",
    *,
    only: Look | None = None,
    only_unexpected: bool = False,
    first: int = 0,
    size: int = 100,
) -> Excerpt[KeyLine]:
    """Keys from the `first` on: the newest before the oldest, and in their order where they have no time."""
    if only_unexpected:
        return _unexpected(cells, zoom, first, size)
    positions, backwards = cells.positions(zoom), bool(cells.unit)
    if only is None:
        found: Sequence[int] = (positions[::-1] if backwards else positions)[first : first + size]
        count = len(positions)
    else:
        found = _in_state(cells, only, positions, first, size)
        count = cells.tally_of(positions)[only]
    return Excerpt(_lines(cells, found), count, first)


def listed_at(cells: Cells, positions: Sequence[int], *, first: int = 0, size: int = 100) -> Excerpt[KeyLine]:
    """The keys at some positions, the last before the first."""
    return Excerpt(_lines(cells, positions[::-1][first : first + size]), len(positions), first)


def _lines(cells: Cells, found: Sequence[int]) -> list[KeyLine]:
    places = cells.places.places_at(found)
    places = places[: room_for(place.key for place in places)]
    return [
        KeyLine(place.key, cells.look(at), cells.outside(place.key))
        for at, place in zip(found, places, strict=False)
    ]


def _in_state(cells: Cells, only: Look, positions: range, first: int, size: int) -> Sequence[int]:
    """Where expected keys in one state stand."""
    backwards, others = bool(cells.unit), frozenset(cells.unexpected_at)
    if not others:
        return cells.some_of(only, positions, first=first, size=size, backwards=backwards)
    found = [at for at in positions if cells.looks[at] == only and at not in others]
    return (found[::-1] if backwards else found)[first : first + size]


def _unexpected(cells: Cells, zoom: str, first: int, size: int) -> Excerpt[KeyLine]:
    """Keys that the definition does not have, the last in the order of their text first."""
    keys = sorted(cells.unexpected_in(zoom), reverse=True)
    shown = keys[first : first + size]
    shown = shown[: room_for(shown)]
    if cells.apart:
        looks = dict(cells.apart)
    else:
        looks = {place.key: cells.look(at) for at, place in enumerate(cells.places) if place.key in shown}
    return Excerpt([KeyLine(key, looks[key], cells.outside(key)) for key in shown], len(keys), first)
