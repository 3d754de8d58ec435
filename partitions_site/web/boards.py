"""The board of one asset: the bar of a period or of one slice, a grid or a list, and what is selected."""

from collections import Counter
from datetime import datetime

from core.models import Asset, Partition
from partitions_site.web.asked import NARROWING, SHORT, UNEXPECTED, Asked, look_of
from partitions_site.web.http import later
from scheduling import board
from scheduling.board import Cells, Choice, Grid, Read, Slice

LISTED = 100
"""Keys on one page of a list."""


def read(row: Asset, now: datetime) -> Read:
    """How the partitions of the asset look, without those that would take long."""
    return board.read([row], now=now, patient=False)[row.pk]


def board_of(state: Read, asked: Asked, row: Asset, now: datetime) -> dict[str, object]:
    """What the board shows: the bar of the period, and a grid, or a list of what the address asks for."""
    part = board.within(state.cells, asked.dimensions)
    zoom = asked.zoom if part.cells.unit else ""
    choice = _choice(asked, row, state.cells, now)
    late_keys = board.late_keys([row], now=now).get(row.pk, frozenset())
    late = board.late_among(part.cells, late_keys)
    short_keys = board.short_keys([row]).get(row.pk, frozenset())
    short = _within(board.short_among(part.cells, short_keys), part.cells.positions(zoom))
    grid = _grid(asked, part, zoom, choice, {"late": late, "short": short})
    return {
        "read": state,
        "dimensions": [each for each in asked.dimensions if not each.is_time],
        "others": asked.beside_slice,
        "zoom": zoom,
        "crumbs": _crumbs(zoom),
        "around": _around(part.cells, zoom),
        "bar": board.draw(part.cells, zoom, with_segments=True, late=late),
        "late_keys": late_keys,
        "short_keys": short_keys,
        "short_count": len(short),
        "outside": Counter(map(part.cells.outside, part.cells.unexpected_in(zoom))).items(),
        "wanted": asked.wanted,
        "grid": grid,
        "heat": board.measure(row, grid, asked.heat),
        "strays": part.cells.strays() if grid else [],
        "list": None if grid else _listed(asked, row, part.cells, zoom, short),
        "is_of_keys": _is_of_keys(grid),
        **_selection(asked, part, zoom, choice),
    }


def place_of(state: Read, asked: Asked, key: str) -> dict[str, str]:
    """What an address has to ask besides so that the grid shows the square of `key`; empty if it does."""
    zoom, first_row = board.shown_at(board.within(state.cells, asked.dimensions).cells, key) or ("", 0)
    named = {"zoom": zoom, "row": str(first_row) if first_row else ""}
    return {name: text for name, text in named.items() if text}


def _grid(
    asked: Asked, part: Slice, zoom: str, choice: Choice | None, marks: dict[str, tuple[int, ...]]
) -> Grid | None:
    """None where the address asks for the keys in one state, or a list says it better."""
    if asked.wanted:
        return None
    selected = (lambda at, look: choice.has(part.whole(at), look)) if choice else None
    return board.lay_out(part.cells, zoom, first_row=asked.first_row, selected=selected, **marks)


def _selection(asked: Asked, part: Slice, zoom: str, choice: Choice | None) -> dict[str, object]:
    """What is selected, and what could be typed to select something, or everything that is shown."""
    if asked.is_slice:
        everything = board.spelled_within(asked.dimensions, zoom)
    else:
        everything = board.spelled(part.cells, zoom)
    return {
        "choice": choice,
        "only": asked.only,
        "narrowing": NARROWING,
        "kept": asked.beside_selection,
        "example": later(board.example, part.cells, zoom),
        "everything": everything,
    }


def _choice(asked: Asked, row: Asset, cells: Cells, now: datetime) -> Choice | None:
    text = asked.selection
    return board.choose(row, cells, text, look_of(asked.only), now=now) if text else None


def _is_of_keys(grid: Grid | None) -> bool:
    """Do the squares stand for single partitions, or for periods to zoom into?"""
    boxes = (box for group in (grid.groups if grid else ()) for row in group.rows for box in row.boxes if box)
    first = next(boxes, None)
    return bool(first and first[0].key)


def _within(positions: tuple[int, ...], stretch: range) -> tuple[int, ...]:
    return tuple(at for at in positions if at in stretch)


def _listed(asked: Asked, row: Asset, cells: Cells, zoom: str, short: tuple[int, ...]) -> dict[str, object]:
    first, wanted = asked.first_row, asked.wanted
    unexpected = wanted == UNEXPECTED
    page = (
        board.listed_at(cells, short, first=first, size=LISTED)
        if wanted == SHORT
        else board.listed(
            cells, zoom, only=look_of(wanted), only_unexpected=unexpected, first=first, size=LISTED
        )
    )
    known = Partition.objects.filter(asset=row, key__in=[line.key for line in page.rows])
    by_key = {partition.key: partition for partition in known.select_related("attempt_run")}
    return {
        "rows": [(line.key, line.look, by_key.get(line.key), line.outside) for line in page.rows],
        "count": page.count,
        "first": page.first,
        "last": page.last,
        "next": page.next,
    }


def _crumbs(zoom: str) -> list[str]:
    """The periods around `zoom`, widest first, itself last."""
    sizes = [size for size in (4, 7, 10, 13) if size < len(zoom)] + ([len(zoom)] if zoom else [])
    return [zoom[:size] for size in sizes]


def _around(cells: Cells, zoom: str) -> tuple[str, str]:
    """The periods before and after `zoom` that have keys; empty where there is none."""
    if not zoom:
        return "", ""
    positions, size, order = cells.positions(zoom), len(zoom), cells.places
    before = order[positions.start - 1].label[:size] if positions.start > order.stray_count else ""
    after = order[positions.stop].label[:size] if positions.stop < len(order) else ""
    return before, after
