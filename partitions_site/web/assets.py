"""One asset: its bar, its grid, the panel of one partition; and an event recorded by hand."""

import re
from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from core.models import Asset, AssetEvent, Dag, Partition
from partitions_site.web import asset_tabs, keys
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, found, go, later, sight_of, whole
from scheduling import board, dynamic, events, mapping
from scheduling.algebra.errors import PartitionError
from scheduling.board import Cells, Choice, Grid, Look

LISTED = 100
"""Keys on one page of a list."""

NARROWING = ("missing", "failed", "stale")
"""The states to which a selection can be narrowed: those of which a backfill can be asked alone."""

KEPT = ("key", "zoom", "state", "row", "heat")
"""What of the address stays when somebody selects by typing."""

ZOOM = re.compile(r"[0-9]{4}(-([0-9]{2}(-[0-9]{2}(T[0-9]{2})?)?|W[0-9]{2}|Q[1-4]))?")


@require_safe
def asset(request: HtmxRequest, name: str) -> HttpResponse:
    """The asset; with `key`, all about one partition of it. What moves of it polls this same address."""
    now = timezone.now()
    row = found(request, Asset.objects, name=name)
    key = request.GET.get("key", "")
    tab, dags = asset_tabs.tab_of(request), Dag.objects.active().filter(sight_of(request).dags())
    context = {
        "now": now,
        "asset": row,
        "key": key,
        "tab": tab,
        **asset_tabs.context_of(tab, request, row, now),
        "shown": later(_board, request, row, now),
        "dynamic": later(dynamic.names_of, row),
        "removable": later(keys.is_removable, row, key),
        "facts": later(board.facts, row, key, now=now, sight=sight_of(request)) if key else None,
        "peek": later(board.peek, row, key),
        "producers": later(lambda: list(dags.filter(outlets__asset=row).distinct())),
        "consumers": later(lambda: list(dags.filter(dependencies__asset=row).distinct())),
    }
    parts = (
        *("assets/_board.html", "assets/_panel.html", "assets/_events.html"),
        "assets/_readout.html",
    )
    return answer(request, "assets/asset.html", parts, context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_assetevent")
def record(request: HtmxRequest) -> HttpResponse:
    """Record an asset event by hand: say so first, then do it, then go back to where it was asked."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Asset.objects.active(), "core.add_assetevent", name=given.get("asset", ""))
    key = given.get("key", "")
    context = {"asset": row, "key": key, "problem": "", "back": _page_of(row, key)}
    parts = ("assets/record.html", "assets/_dialog.html")
    if request.method != "POST":
        return answer(request, *parts, context)
    report = events.EventReport(row, key or None, {"recorded_by_hand": True})
    try:
        [recorded] = events.register_events(
            [report], source=AssetEvent.Source.PERSON, deed=deed(request), at=timezone.now()
        )
    except PartitionError as error:
        return answer(request, *parts, context | {"problem": str(error)}, status=422)
    messages.success(request, f"Recorded an event of {row.name}{f', partition {key}' if key else ''}.")
    for problem in mapping.refusals([recorded.event]):
        if sight_of(request).sees(problem.dag):
            messages.warning(request, f"{problem.dag} cannot count it: {problem.sentence}.")
    return go(request, _page_of(row, key))


def _page_of(row: Asset, key: str) -> str:
    address = reverse("asset", args=[row.name])
    return f"{address}?{urlencode({'key': key})}" if key else address


def _board(request: HtmxRequest, row: Asset, now: datetime) -> dict[str, object]:
    """What the board shows: the bar of the period, and a grid, or a list of what the address asks for."""
    state = board.read([row], now=now, patient=False)[row.pk]
    cells = state.cells
    zoom = request.GET.get("zoom", "")
    zoom = zoom if ZOOM.fullmatch(zoom) and cells.unit else ""
    wanted = _look(request.GET.get("state", ""))
    unexpected = request.GET.get("state") == "unexpected"
    grid, choice = None, _choice(request, row, cells, now)
    late_keys = board.late_keys([row], now=now).get(row.pk, frozenset())
    late = board.late_among(cells, late_keys)
    if wanted is None and not unexpected:
        selected = choice.has if choice else None
        first = whole(request.GET.get("row"))
        grid = board.lay_out(cells, zoom, first_row=first, selected=selected, late=late)
    return {
        "read": state,
        "choice": choice,
        "only": _narrowed(request),
        "narrowing": NARROWING,
        "kept": [(name, request.GET[name]) for name in KEPT if name in request.GET],
        "example": later(board.example, cells, zoom),
        "everything": later(board.spelled, cells, zoom),
        "zoom": zoom,
        "crumbs": _crumbs(zoom),
        "around": _around(cells, zoom),
        "bar": board.draw(cells, zoom, with_segments=True, late=late),
        "late_keys": late_keys,
        "wanted": "unexpected" if unexpected else wanted.word if wanted else "",
        "grid": grid,
        "heat": board.measure(row, grid, request.GET.get("heat", "")),
        "strays": cells.strays() if grid else [],
        "list": None if grid else _listed(request, row, cells, zoom, wanted, unexpected),
        "is_of_keys": _is_of_keys(grid),
    }


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


def _listed(
    request: HtmxRequest, row: Asset, cells: Cells, zoom: str, wanted: Look | None, unexpected: bool
) -> dict[str, object]:
    first = whole(request.GET.get("row"))
    page = board.listed(cells, zoom, only=wanted, only_unexpected=unexpected, first=first, size=LISTED)
    known = Partition.objects.filter(asset=row, key__in=[line.key for line in page.lines])
    by_key = {partition.key: partition for partition in known.select_related("attempt_run")}
    last = first + len(page.lines)
    return {
        "rows": [(line.key, line.look, by_key.get(line.key), line.is_unexpected) for line in page.lines],
        "count": page.count,
        "first": first,
        "last": last,
        "next": last if last < page.count else 0,
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
