"""The first page: what needs a person, then every asset in one line."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.models import Asset
from partitions_site.web.http import HtmxRequest, answer, later
from scheduling import board
from scheduling import health as vitals
from scheduling.board import Bar, Look, Read, Tally

TROUBLE = (Look.FAILED, Look.HELD, Look.STALE)


@dataclass(frozen=True, slots=True)
class Line:
    """One asset: its bar, its counts, its newest partition with data."""

    asset: Asset
    bar: Bar
    tally: Tally
    newest: str
    last_data_at: datetime | None
    unexpected: int

    @property
    def is_troubled(self) -> bool:
        return any(self.tally[look] for look in TROUBLE)


@require_safe
def overview(request: HtmxRequest) -> HttpResponse:
    """Everything at a glance. The lines poll this same address."""
    now = timezone.now()
    words, group = request.GET.get("q", "").strip(), request.GET.get("group", "")
    only_trouble = request.GET.get("show") == "problems"
    health = later(vitals.report, now)
    context = {
        "now": now,
        "words": words,
        "group": group,
        "only_trouble": only_trouble,
        "needs": later(lambda: board.needs(health, now=now)),
        "flow": later(board.flow),
        "groups": later(_groups),
        "lines": later(_lines, words, group, only_trouble, now),
        "is_narrowed": bool(words or group or only_trouble),
    }
    return answer(request, "overview/overview.html", "overview/_now.html", context)


def _groups() -> list[str]:
    groups = Asset.objects.active().order_by("group").values_list("group", flat=True).distinct()
    return list(groups)


def _lines(words: str, group: str, only_trouble: bool, now: datetime) -> list[Line]:
    assets = Asset.objects.active().order_by("group", "name")
    if words:
        assets = assets.filter(name__icontains=words)
    if group:
        assets = assets.filter(group=group)
    shown = list(assets)
    states = board.read(shown, now=now)
    lines = [_line(asset, states[asset.pk]) for asset in shown]
    return [line for line in lines if line.is_troubled or not only_trouble]


def _line(asset: Asset, state: Read) -> Line:
    newest = state.cells.newest()
    return Line(
        asset=asset,
        bar=board.draw(state.cells),
        tally=state.cells.tally,
        newest=newest.key if newest else "",
        last_data_at=state.last_data_at,
        unexpected=len(state.cells.unexpected),
    )
