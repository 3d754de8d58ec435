"""One asset: its board, the panel of one partition; and an event recorded by hand."""

from datetime import datetime
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from core.models import Asset, AssetEvent, Dag
from partitions_site.web import asked, asset_tabs, boards, keys, written
from partitions_site.web.confirm import check_meant
from partitions_site.web.http import HtmxRequest, allowed, answer, back_to, deed, found, go, later, sight_of
from scheduling import asset_keys, board, dynamic, events, mapping
from scheduling.algebra.errors import PartitionError
from scheduling.asset_keys import AssetKey

PLACED = frozenset({"zoom", "row", "state"})
"""What an address says that asks for a certain part of the board; an empty zoom is all of it."""


@require_safe
def asset(request: HtmxRequest, name: str) -> HttpResponse:
    """The asset; with `key`, all about one partition of it. What moves of it polls this same address.

    A link to a key leads on to the period in which its square is seen.
    """
    now = timezone.now()
    row = found(request, Asset.objects, name=name)
    key = request.GET.get("key", "")
    tab, dags = asset_tabs.tab_of(request), Dag.objects.active().filter(sight_of(request).dags())
    means, state = later(asked.read, request.GET, row, now), later(boards.read, row, now)
    is_link = tab == asset_tabs.TABS[0] and key and not request.htmx and not PLACED.intersection(request.GET)
    if is_link and (place := boards.place_of(state, means, key)):
        return go(request, f"?{request.GET.urlencode()}&{urlencode(place)}")
    context = {
        "now": now,
        "asset": row,
        "key": key,
        "tab": tab,
        "asked": means,
        **asset_tabs.context_of(tab, request, row, now),
        "shown": later(boards.board_of, state, means, row, now),
        "dynamic": later(dynamic.names_of, row),
        "removable": later(keys.is_removable, row, key),
        "facts": later(board.facts, row, key, now=now, sight=sight_of(request)) if key else None,
        "peek": later(board.peek, row, key),
        "producers": later(lambda: list(dags.filter(outlets__asset=row).distinct())),
        "consumers": later(lambda: list(dags.filter(dependencies__asset=row).distinct())),
    }
    parts = (
        *("assets/_board.html", "assets/_panel.html", "assets/_events.html"),
        *("assets/_lineage.html", "assets/_readout.html"),
    )
    return answer(request, "assets/asset.html", parts, context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_assetevent")
def record(request: HtmxRequest) -> HttpResponse:
    """Record an asset event by hand: say so first, then do it, then go back to where it was asked."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Asset.objects.active(), "core.add_assetevent", name=given.get("asset", ""))
    key = given.get("key", "")
    means = _means(row, key, timezone.now())
    extra = given.get("extra", "")
    back = back_to(request, _page_of(row, key))
    context = {"asset": row, "key": key, "means": means, "problem": "", "back": back}
    context |= {"extra": extra, "extra_wrong": written.problem(extra, "extra")}
    parts = ("assets/record.html", ("assets/_dialog.html", "assets/_tells.html"))
    if request.method != "POST":
        return answer(request, *parts, context)
    try:
        check_meant(means["doubt"], given, "record it again")
        brought = written.read(extra, "extra") | {"recorded_by_hand": True}
        report = events.EventReport(row, key or None, brought)
        [recorded] = events.register_events(
            [report], source=AssetEvent.Source.PERSON, deed=deed(request), at=timezone.now()
        )
    except PartitionError as error:
        return answer(request, *parts, context | {"problem": str(error)}, status=422)
    messages.success(request, f"Recorded an event of {row.name}{f', partition {key}' if key else ''}.")
    for problem in mapping.refusals([recorded.event]):
        if sight_of(request).sees(problem.dag):
            messages.warning(request, f"{problem.dag} cannot count it: {problem.sentence}.")
    return go(request, back)


def _means(row: Asset, key: str, now: datetime) -> dict[str, str]:
    """What a typed key means to the asset: in `words`, with a `doubt`, or why it is `wrong`."""
    try:
        meant = asset_keys.of_key(row, key, now=now) if key else AssetKey()
    except PartitionError as error:
        return {"wrong": str(error), "words": "", "doubt": ""}
    return {"wrong": "", "words": meant.words, "doubt": meant.doubt}


def _page_of(row: Asset, key: str) -> str:
    address = reverse("asset", args=[row.name])
    return f"{address}?{urlencode({'key': key})}" if key else address
