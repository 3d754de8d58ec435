"""The first page: what needs a person, then every asset in one line."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.models import Asset
from partitions_site.web.http import HtmxRequest, answer, later, sight_of, whole
from scheduling import board
from scheduling import health as vitals
from scheduling.belonging import Sight
from scheduling.board import Bar, Cells, Excerpt, Lack, Look, Newest, Read, Tally

SHOWN = 40
"""Assets on one page."""

COLUMNS = 240
"""Columns of a bar in a list: fewer than that of one asset alone, for there are many."""

TROUBLE = (Look.FAILED, Look.HELD, Look.STALE)


@dataclass(frozen=True, slots=True)
class Line:
    """One asset: its bar, its counts, its newest partition with data.

    `unexpected` keys are not in its definition, and never will be; `early` ones will. `lack`: what of it is
    being drawn and not shown.
    """

    asset: Asset
    bar: Bar
    tally: Tally
    newest: Newest
    unexpected: int
    early: int
    lack: Lack


@require_safe
def overview(request: HtmxRequest) -> HttpResponse:
    """Everything at a glance. The lines poll this same address."""
    now = timezone.now()
    words, group = request.GET.get("q", "").strip(), request.GET.get("group", "")
    only_trouble = request.GET.get("show") == "problems"
    health, sight = later(vitals.report, now), sight_of(request)
    context = {
        "now": now,
        "health": health,
        "words": words,
        "group": group,
        "only_trouble": only_trouble,
        "needs": later(lambda: board.needs(health, now=now, sight=sight)),
        "flow": later(board.flow, sight),
        "groups": later(_groups, sight),
        "lines": later(
            _lines,
            _wanted(words, group).filter(sight.assets()),
            whole(request.GET.get("row")),
            only_trouble,
            now,
        ),
        "is_narrowed": bool(words or group or only_trouble),
    }
    return answer(request, "overview/overview.html", "overview/_now.html", context)


def _groups(sight: Sight) -> list[str]:
    groups = (
        Asset.objects.active()
        .filter(sight.assets())
        .order_by("group")
        .values_list("group", flat=True)
        .distinct()
    )
    return list(groups)


def _lines(wanted: QuerySet[Asset], first: int, only_trouble: bool, now: datetime) -> Excerpt[Line]:
    """The assets of one page; to tell which are in trouble, all of them are looked at."""
    if not only_trouble:
        shown = list(wanted[first : first + SHOWN])
        read = board.read(shown, now=now, patient=False)
        return Excerpt(_drawn(shown, read, now), wanted.count(), first)
    every = list(wanted)
    states = board.read(every, now=now, patient=False)
    troubled = [asset for asset in every if _may_be_in_trouble(states[asset.pk])]
    return Excerpt(_drawn(troubled[first : first + SHOWN], states, now), len(troubled), first)


def _may_be_in_trouble(state: Read) -> bool:
    """Of one that is being drawn, nobody knows yet."""
    return state.lack is Lack.EVERYTHING or any(look in state.cells.looks for look in TROUBLE)


def _wanted(words: str, group: str) -> QuerySet[Asset]:
    assets = Asset.objects.active().order_by("group", "name")
    if words:
        assets = assets.filter(name__icontains=words)
    return assets.filter(group=group) if group else assets


def _drawn(assets: list[Asset], states: dict[int, Read], now: datetime) -> list[Line]:
    late = board.late_keys(assets, now=now)
    newest = board.newest_of({asset.pk: states[asset.pk].cells for asset in assets})
    return [
        Line(
            asset=asset,
            bar=_bar(states[asset.pk].cells, late.get(asset.pk, ())),
            tally=states[asset.pk].cells.tally,
            newest=newest[asset.pk],
            unexpected=len(states[asset.pk].cells.undefined),
            early=len(states[asset.pk].cells.early),
            lack=states[asset.pk].lack,
        )
        for asset in assets
    ]


def _bar(cells: Cells, late: Collection[str]) -> Bar:
    return board.draw(cells, most=COLUMNS, late=board.late_among(cells, late))
