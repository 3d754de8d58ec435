"""Held runs: what waits, for what, and since when."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.models import Asset, Dag, DagRun, HeldRun
from partitions_site.web import selecting
from partitions_site.web.http import HtmxRequest, answer, found, is_whole, later, whole
from partitions_site.web.standings import SHOWN_MISSING, Standing, standings
from scheduling import board, overdue
from scheduling import holds as engine
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.belonging import Sight
from scheduling.board import HeldPage
from scheduling.expected import Owed

VERDICTS = (Kind.BROKEN, Kind.UNREACHABLE, Kind.WAITING, Kind.SETTLING, Kind.PAUSED, Kind.READY)

PARTS = ("held/_rows.html", "held/_panel.html")

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


@dataclass(frozen=True, slots=True)
class LookedAt:
    """What is asked at once of the held runs that a page shows, by primary key; `assets` by Dag."""

    verdicts: Mapping[int, Verdict]
    owed: Mapping[int, Sequence[Owed]]
    assets: Mapping[int, Mapping[Leaf, Asset]]

    def standings(self, row: HeldRun) -> list[Standing]:
        return standings(row, self.verdicts[row.pk], self.owed[row.pk], self.assets[row.dag_id])


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
    late_count = HeldRun.objects.late(now).filter(wanted.sight.dags("dag")).count()
    chosen_pk = whole(request.GET.get("run"))
    chosen = later(_chosen, chosen_pk, wanted.sight)
    page = later(board.held_runs, wanted, now=now, after=after, room=ROOM, any_late=bool(late_count))
    # Beside each other the list and the panel are asked about at once.
    beside = is_whole(request, PARTS)
    listed = later(lambda: _looked_at(page.rows, chosen if beside else None, now))
    looked_at = listed if beside else later(lambda: _looked_at([], chosen, now))
    context = {
        "now": now,
        "wanted": wanted,
        "after": after,
        "page": later(lambda: _page(page, listed, now)),
        "selected": later(selecting.held_of, request),
        "matching": later(selecting.all_held, wanted),
        "late_count": late_count,
        "counts": later(_counts, wanted.sight),
        "dag_ids": later(lambda: list(_listening(wanted.sight).values_list("dag_id", flat=True))),
        "asset_names": later(lambda: list(_heard(wanted.sight).values_list("name", flat=True))),
        "chosen_pk": chosen_pk,
        "chosen": later(lambda: _told(chosen, looked_at, now) if chosen else {}),
    }
    return answer(request, "held/list.html", PARTS, context)


@require_safe
def held_run(request: HtmxRequest, pk: int) -> HttpResponse:
    """Why is this run held? The page polls this same address until the run it became has ended."""
    row, now = row_of(request, pk), timezone.now()
    context = {"now": now, **_told(row, later(_looked_at, [], row, now), now)}
    return answer(request, "held/detail.html", "held/_now.html", context)


def _chosen(pk: int, sight: Sight) -> HeldRun | None:
    """The held run beside the list; none if there is none, of those that are shown."""
    rows = HeldRun.objects.filter(sight.dags("dag"), pk=pk).select_related("dag", "run")
    return rows.first() if pk else None


def _looked_at(listed: Sequence[HeldRun], chosen: HeldRun | None, now: datetime) -> LookedAt:
    """What there is to know of the rows of a list, and more of the one that is chosen, asked once for all."""
    rows = [*listed, *([chosen] if chosen and chosen not in listed else ())]
    verdicts, assets = engine.assess(rows, now=now), overdue.assets_of(row.dag_id for row in rows)
    mosts = {chosen.pk: SHOWN_MISSING} if chosen else {}
    owed = overdue.owed(rows, verdicts, most=1, mosts=mosts, assets=assets)
    return LookedAt(verdicts, owed, assets)


def _told(row: HeldRun, looked_at: LookedAt, now: datetime) -> dict[str, Any]:
    """What there is to tell of one held run, or of what became of it."""
    is_open = row.state == HeldRun.State.HELD
    return {
        "row": row,
        "verdict": later(lambda: looked_at.verdicts[row.pk]),
        "is_late": bool(row.late_at and row.late_at <= now),
        "assets": later(lambda: looked_at.standings(row)),
        "rounds": later(lambda: list(_rounds(row))),
        "reason": later(board.reason_of_end, row),
        "is_open": is_open,
        "is_moving": is_open or bool(row.run and row.run.state not in DagRun.FINISHED),
    }


def _page(page: HeldPage, looked_at: LookedAt, now: datetime) -> dict[str, Any]:
    first = {row.pk: _first_of_each(looked_at.owed[row.pk]) for row in page.rows}
    unmade = [row for row in page.rows if any(each.is_unmade for each in first[row.pk])]
    owed = _owed(unmade, looked_at) if unmade else {}
    rows = [
        Row(
            row,
            looked_at.verdicts[row.pk],
            bool(row.late_at and row.late_at <= now),
            first[row.pk],
            _coming(owed.get(row.pk, ()), now),
        )
        for row in page.rows
    ]
    return {"rows": rows, "following": page.following}


def _owed(rows: Sequence[HeldRun], looked_at: LookedAt) -> dict[int, list[Owed]]:
    return overdue.owed(rows, looked_at.verdicts, most=LOOKED_AT, assets=looked_at.assets)


def _first_of_each(owed: Iterable[Owed]) -> list[Owed]:
    """The first missing key of each asset."""
    first: dict[Leaf, Owed] = {}
    for each in owed:
        first.setdefault(each.leaf, each)
    return list(first.values())


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
