"""Long lists, a page at a time: paged by key, so that the hundredth page costs what the first does."""

from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet

from core.models import Asset, AssetEvent, Dag, DagRun, Dependency, HeldRun, JournalEntry
from scheduling.algebra.verdicts import Kind

PAGE = 50

NEVER_FIRE = (Kind.BROKEN, Kind.UNREACHABLE)
"""Verdicts that do not mend themselves."""

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows in order, and the primary key after which the next page goes on; none when there is no next."""

    rows: list[Row]
    following: int | None


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Open held runs in order, and where the next page goes on; empty when there is no next."""

    rows: list[HeldRun]
    following: str


@dataclass(frozen=True, slots=True)
class HeldFilter:
    """What to show of the open held runs; empty fields do not narrow."""

    verdict: str = ""
    only_late: bool = False
    dag: str = ""
    asset: str = ""
    key: str = ""
    newest_first: bool = False


@dataclass(frozen=True, slots=True)
class RunFilter:
    dag: str = ""
    state: str = ""
    run_type: str = ""
    key: str = ""
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class JournalFilter:
    event: str = ""
    dag: str = ""
    asset: str = ""
    by: str = ""
    key: str = ""
    backfill: int = 0


def held_runs(wanted: HeldFilter, *, now: datetime, after: str = "", size: int = PAGE) -> HeldPage:
    """Open held runs: those that are late, those that can never fire, the others; each by their age.

    :param after: where a page before said that the next one goes on.
    """
    start, _, pk = after.partition(".")
    at, last = (int(start), int(pk)) if start.isdecimal() and pk.isdecimal() else (0, 0)
    found: list[tuple[int, HeldRun]] = []
    for number, rows in list(enumerate(_sections(_held(wanted), now, wanted.only_late)))[at:]:
        left = size + 1 - len(found)
        part = page_of(rows, last if number == at else 0, left, newest_first=wanted.newest_first)
        found += ((number, row) for row in part.rows)
        if len(found) > size:
            break
    shown = found[:size]
    following = f"{shown[-1][0]}.{shown[-1][1].pk}" if len(found) > size else ""
    return HeldPage([row for _, row in shown], following)


def runs(wanted: RunFilter, *, after: int = 0, size: int = PAGE) -> Page[DagRun]:
    """Runs, newest first."""
    rows = DagRun.objects.select_related("dag")
    if wanted.dag:
        rows = rows.filter(dag=_dag(wanted.dag))
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.run_type:
        rows = rows.filter(run_type=wanted.run_type)
    if wanted.run_id:
        rows = rows.filter(run_id=wanted.run_id)
    if wanted.key:
        rows = rows.filter(partition_key__icontains=wanted.key)
    return page_of(rows, after, size, newest_first=True)


def events(asset: Asset, *, key: str = "", after: int = 0, size: int = PAGE) -> Page[AssetEvent]:
    """Events of one asset whose key contains `key`, newest first."""
    rows = AssetEvent.objects.filter(asset=asset).select_related("source_run__dag")
    if key:
        rows = rows.filter(partition_key__icontains=key)
    return page_of(rows, after, size, newest_first=True)


def journal(wanted: JournalFilter, *, after: int = 0, size: int = PAGE) -> Page[JournalEntry]:
    """Journal entries, newest first."""
    rows = JournalEntry.objects.all()
    exact = {"event": wanted.event, "dag_id": wanted.dag, "asset_name": wanted.asset, "by": wanted.by}
    rows = rows.filter(**{field: value for field, value in exact.items() if value})
    if wanted.key:
        rows = rows.filter(partition_key__icontains=wanted.key)
    if wanted.backfill:
        rows = rows.filter(extra__backfill=wanted.backfill)
    return page_of(rows, after, size, newest_first=True)


def page_of(rows: QuerySet[Row], after: int, size: int, *, newest_first: bool) -> Page[Row]:
    """`size` rows beyond the one whose primary key is `after`."""
    if after:
        rows = rows.filter(pk__lt=after) if newest_first else rows.filter(pk__gt=after)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: size + 1])
    return Page(found[:size], found[size - 1].pk if len(found) > size else None)


def _dag(dag_id: str) -> int:
    """Its primary key, asked before: joined to Dags no database finds the index of the rows of one."""
    return Dag.objects.filter(dag_id=dag_id).values_list("pk", flat=True).first() or 0


def _held(wanted: HeldFilter) -> QuerySet[HeldRun]:
    rows = HeldRun.objects.held().select_related("dag")
    if wanted.verdict:
        rows = rows.filter(verdict=wanted.verdict)
    if wanted.dag:
        rows = rows.filter(dag=_dag(wanted.dag))
    if wanted.asset:
        rows = rows.filter(dag__in=Dependency.objects.filter(asset__name=wanted.asset).values("dag"))
    if wanted.key:
        rows = rows.filter(partition_key__icontains=wanted.key)
    return rows


def _sections(rows: QuerySet[HeldRun], now: datetime, only_late: bool = False) -> list[QuerySet[HeldRun]]:
    late, others = rows.filter(late_at__lte=now), rows.exclude(late_at__lte=now)
    if only_late:
        return [late]
    return [late, others.filter(verdict__in=NEVER_FIRE), others.exclude(verdict__in=NEVER_FIRE)]
