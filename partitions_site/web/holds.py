"""Held runs: what waits, for what, and since when."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.models import Asset, Dag, DagRun, HeldRun
from partitions_site.web import selecting
from partitions_site.web.http import HtmxRequest, answer, found, later, whole
from partitions_site.web.standings import standings
from scheduling import board, overdue
from scheduling import holds as engine
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.belonging import Sight
from scheduling.board import HeldFilter
from scheduling.expected import Owed

VERDICTS = (Kind.BROKEN, Kind.UNREACHABLE, Kind.WAITING, Kind.SETTLING, Kind.PAUSED, Kind.READY)

ROOM = 45_000
"""Bytes of the keys in the list, as addresses have them; each is told of in a sentence besides."""

LOOKED_AT = 60
"""Missing keys of each asset among which that is looked for which comes next."""


@dataclass(frozen=True, slots=True)
class Row:
    """One held run in the list; `first` is the missing key of each asset that is expected first.

    Where nobody makes that one, `coming` are those that come next by themselves.
    """

    row: HeldRun
    verdict: Verdict
    is_late: bool
    first: list[Owed]
    coming: list[Owed]


def row_of(request: HtmxRequest, pk: int, right: str = "") -> HeldRun:
    row: HeldRun = found(request, HeldRun.objects.select_related("dag", "run"), right, pk=pk)
    return row


def verdict_of(row: HeldRun) -> Verdict:
    """What the engine would decide now."""
    return engine.assess([row], now=timezone.now())[row.pk]


@require_safe
def held_runs(request: HtmxRequest) -> HttpResponse:
    """All that is held: what is late and what never fires first; with `run`, one of them beside the list.

    The rows and the panel poll this same address.
    """
    now = timezone.now()
    wanted = selecting.held_wanted(request)
    after = request.GET.get("after", "")
    context = {
        "now": now,
        "wanted": wanted,
        "after": after,
        "page": later(_page, wanted, after, now),
        "selected": later(selecting.held_of, request),
        "matching": later(selecting.all_held, wanted),
        "late_count": HeldRun.objects.late(now).filter(wanted.sight.dags("dag")).count(),
        "counts": later(_counts, wanted.sight),
        "dag_ids": later(lambda: list(_listening(wanted.sight).values_list("dag_id", flat=True))),
        "asset_names": later(lambda: list(_heard(wanted.sight).values_list("name", flat=True))),
        "chosen_pk": (chosen_pk := whole(request.GET.get("run"))),
        "chosen": later(_chosen, chosen_pk, wanted.sight, now) if chosen_pk else None,
    }
    return answer(request, "held/list.html", ("held/_rows.html", "held/_panel.html"), context)


@require_safe
def held_run(request: HtmxRequest, pk: int) -> HttpResponse:
    """Why is this run held? The page polls this same address until the run it became has ended."""
    row, now = row_of(request, pk), timezone.now()
    context = {"now": now, **_told(row, now)}
    return answer(request, "held/detail.html", "held/_now.html", context)


def _chosen(pk: int, sight: Sight, now: datetime) -> dict[str, Any]:
    """The held run beside the list; nothing if there is none, of those that are shown."""
    row = HeldRun.objects.filter(sight.dags("dag"), pk=pk).select_related("dag", "run").first()
    return _told(row, now) if row else {}


def _told(row: HeldRun, now: datetime) -> dict[str, Any]:
    """What there is to tell of one held run, or of what became of it."""
    verdict = later(verdict_of, row)
    is_open = row.state == HeldRun.State.HELD
    return {
        "row": row,
        "verdict": verdict,
        "is_late": bool(row.late_at and row.late_at <= now),
        "assets": later(standings, row, verdict),
        "rounds": later(lambda: list(_rounds(row))),
        "reason": later(board.reason_of_end, row),
        "is_open": is_open,
        "is_moving": is_open or bool(row.run and row.run.state not in DagRun.FINISHED),
    }


def _page(wanted: HeldFilter, after: str, now: datetime) -> dict[str, Any]:
    page = board.held_runs(wanted, now=now, after=after, room=ROOM)
    verdicts = engine.assess(page.rows, now=now)
    first = overdue.owed(page.rows, verdicts, most=1)
    unmade = [row for row in page.rows if any(each.is_unmade for each in first[row.pk])]
    owed = overdue.owed(unmade, verdicts, most=LOOKED_AT) if unmade else {}
    rows = [
        Row(
            row,
            verdicts[row.pk],
            bool(row.late_at and row.late_at <= now),
            first[row.pk],
            _coming(owed.get(row.pk, ()), now),
        )
        for row in page.rows
    ]
    return {"rows": rows, "following": page.following}


def _coming(owed: Sequence[Owed], now: datetime) -> list[Owed]:
    """Of each asset whose first missing key nobody makes, the one that comes next."""
    by_leaf: dict[Leaf, list[Owed]] = {}
    for each in owed:
        by_leaf.setdefault(each.leaf, []).append(each)
    return [
        min(due, key=lambda each: each.expected.at or now)
        for some in by_leaf.values()
        if some[0].is_unmade and (due := [each for each in some if (each.expected.at or now) > now])
    ]


def _counts(sight: Sight) -> list[tuple[str, int]]:
    counts = board.verdicts(sight)
    return [(str(kind), counts[kind]) for kind in VERDICTS if counts[kind]]


def _listening(sight: Sight) -> Any:
    return Dag.objects.active().filter(sight.dags(), dependencies__isnull=False).distinct().order_by("dag_id")


def _heard(sight: Sight) -> Any:
    """The assets that something listens to."""
    heard = Asset.objects.filter(sight.assets(), dependencies__dag__is_active=True)
    return heard.distinct().order_by("name")


def _rounds(row: HeldRun) -> Any:
    """The other rounds of the same key, latest first."""
    same = HeldRun.objects.filter(dag=row.dag, partition_key=row.partition_key).exclude(pk=row.pk)
    return same.select_related("run").order_by("-round")[:10]
