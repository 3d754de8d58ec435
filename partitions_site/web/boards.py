"""The board of one asset: the bar of a period or of one slice, a grid or a list, and what is selected."""

import re
from collections import Counter
from datetime import datetime

from core.models import Asset, Partition
from partitions_site.web.http import HtmxRequest, later, whole
from scheduling import board
from scheduling.algebra.keys import MAX_KEY_LENGTH
from scheduling.board import Cells, Choice, Grid, Heat, Look, Slice

LISTED = 100
"""Keys on one page of a list."""

NARROWING = ("missing", "failed", "stale")
"""The states to which a selection can be narrowed: those of which a backfill can be asked alone."""

UNEXPECTED = "unexpected"
"""In place of a state: keys that the definition does not have."""

SHORT = "short"
"""In place of a state: partitions whose run a person fired without some keys."""

KEPT = ("key", "zoom", "state", "row", "heat")
"""What of the address stays when somebody selects by typing."""

STAYING = ("key", "zoom", "state", "heat", "sel", "only")
"""What of it stays when somebody narrows the board to a slice."""

LONGEST_NUMBER = 60
"""Characters of the name of a number that stays in the address where no partition has it."""

WITHIN = "in."
"""What the name of a dimension stands after in the address, with the value that it is narrowed to."""

ZOOM = re.compile(r"[0-9]{4}(-([0-9]{2}(-[0-9]{2}(T[0-9]{2})?)?|W[0-9]{2}|Q[1-4]))?")


def board_of(request: HtmxRequest, row: Asset, now: datetime) -> dict[str, object]:
    """What the board shows: the bar of the period, and a grid, or a list of what the address asks for."""
    state = board.read([row], now=now, patient=False)[row.pk]
    dimensions = board.dimensions_of(row, _asked(request), now=now)
    part = board.within(state.cells, dimensions)
    zoom = request.GET.get("zoom", "")
    zoom = zoom if ZOOM.fullmatch(zoom) and part.cells.unit else ""
    choice = _choice(request, row, state.cells, now)
    late_keys = board.late_keys([row], now=now).get(row.pk, frozenset())
    late = board.late_among(part.cells, late_keys)
    short_keys = board.short_keys([row]).get(row.pk, frozenset())
    short = _within(board.short_among(part.cells, short_keys), part.cells.positions(zoom))
    grid = _grid(request, part, zoom, choice, {"late": late, "short": short})
    heat = board.measure(row, grid, request.GET.get("heat", ""))
    _keep_what_means_something(request, dimensions, zoom, heat)
    return {
        "read": state,
        "dimensions": [each for each in dimensions if not each.is_time],
        "others": [(name, request.GET[name]) for name in STAYING if name in request.GET],
        "zoom": zoom,
        "crumbs": _crumbs(zoom),
        "around": _around(part.cells, zoom),
        "bar": board.draw(part.cells, zoom, with_segments=True, late=late),
        "late_keys": late_keys,
        "short_keys": short_keys,
        "short_count": len(short),
        "outside": Counter(map(part.cells.outside, part.cells.unexpected_in(zoom))).items(),
        "wanted": _wanted(request),
        "grid": grid,
        "heat": heat,
        "strays": part.cells.strays() if grid else [],
        "list": None if grid else _listed(request, row, part.cells, zoom, short),
        "is_of_keys": _is_of_keys(grid),
        **_selection(request, part, dimensions, zoom, choice),
    }


def _keep_what_means_something(
    request: HtmxRequest, dimensions: list[board.Dimension], zoom: str, heat: Heat | None
) -> None:
    """Leave the rest out of the address: each of a thousand squares repeats it."""
    within = {f"{WITHIN}{each.name}" for each in dimensions if each.value}
    means = {
        "key": len(request.GET.get("key", "")) <= MAX_KEY_LENGTH,
        "zoom": zoom,
        "state": _wanted(request),
        "row": whole(request.GET.get("row"), -1) >= 0,
        "heat": (heat and heat.name) or len(request.GET.get("heat", "")) <= LONGEST_NUMBER,
        "sel": True,
        "only": _narrowed(request),
    }
    kept = request.GET.copy()
    for name in request.GET:
        if not means.get(name) and name not in within:
            del kept[name]
    request.GET = kept  # type: ignore[assignment]


def _asked(request: HtmxRequest) -> dict[str, str]:
    """The values to which dimensions are narrowed, by their names."""
    given = request.GET
    return {name.removeprefix(WITHIN): given[name] for name in given if name.startswith(WITHIN)}


def _grid(
    request: HtmxRequest,
    part: Slice,
    zoom: str,
    choice: Choice | None,
    marks: dict[str, tuple[int, ...]],
) -> Grid | None:
    """None where the address asks for the keys in one state, or a list says it better."""
    if _wanted(request):
        return None
    selected = (lambda at, look: choice.has(part.whole(at), look)) if choice else None
    first = whole(request.GET.get("row"))
    return board.lay_out(part.cells, zoom, first_row=first, selected=selected, **marks)


def _selection(
    request: HtmxRequest,
    part: Slice,
    dimensions: list[board.Dimension],
    zoom: str,
    choice: Choice | None,
) -> dict[str, object]:
    """What is selected, and what could be typed to select something, or everything that is shown."""
    is_slice = any(each.value for each in dimensions)
    everything = board.spelled_within(dimensions, zoom) if is_slice else board.spelled(part.cells, zoom)
    kept = [(name, request.GET[name]) for name in request.GET if name in KEPT or name.startswith(WITHIN)]
    return {
        "choice": choice,
        "only": _narrowed(request),
        "narrowing": NARROWING,
        "kept": kept,
        "example": later(board.example, part.cells, zoom),
        "everything": everything,
    }


def _wanted(request: HtmxRequest) -> str:
    """The state whose keys are listed, if one is asked for."""
    word = request.GET.get("state", "")
    return word if word in (UNEXPECTED, SHORT) or _look(word) is not None else ""


def _choice(request: HtmxRequest, row: Asset, cells: Cells, now: datetime) -> Choice | None:
    text = request.GET.get("sel", "").strip()
    return board.choose(row, cells, text, _look(_narrowed(request)), now=now) if text else None


def _narrowed(request: HtmxRequest) -> str:
    word = request.GET.get("only", "")
    return word if word in NARROWING else ""


def _is_of_keys(grid: Grid | None) -> bool:
    """Do the squares stand for single partitions, or for periods to zoom into?"""
    boxes = (box for group in (grid.groups if grid else ()) for row in group.rows for box in row.boxes if box)
    first = next(boxes, None)
    return bool(first and first[0].key)


def _look(word: str) -> Look | None:
    return next((look for look in Look if look.word == word), None)


def _within(positions: tuple[int, ...], stretch: range) -> tuple[int, ...]:
    return tuple(at for at in positions if at in stretch)


def _listed(
    request: HtmxRequest, row: Asset, cells: Cells, zoom: str, short: tuple[int, ...]
) -> dict[str, object]:
    first, wanted = whole(request.GET.get("row")), _wanted(request)
    unexpected = wanted == UNEXPECTED
    page = (
        board.listed_at(cells, short, first=first, size=LISTED)
        if wanted == SHORT
        else board.listed(
            cells, zoom, only=_look(wanted), only_unexpected=unexpected, first=first, size=LISTED
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
