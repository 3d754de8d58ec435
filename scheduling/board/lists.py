"""Long lists, a page at a time: paged by key, so that the hundredth page costs what the first does."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet

from core.models import DagRun, Dependency, HeldRun, JournalEntry

PAGE = 50

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows in order, and the primary key after which the next page goes on; none when there is no next."""

    rows: list[Row]
    following: int | None


@dataclass(frozen=True, slots=True)
class HeldFilter:
    """What to show of the open held runs; empty fields do not narrow."""

    verdict: str = ""
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


def held_runs(wanted: HeldFilter, *, after: int = 0, size: int = PAGE) -> Page[HeldRun]:
    """Open held runs, those that have waited longest first."""
    rows = HeldRun.objects.held().select_related("dag")
    if wanted.verdict:
        rows = rows.filter(verdict=wanted.verdict)
    if wanted.dag:
        rows = rows.filter(dag__dag_id=wanted.dag)
    if wanted.asset:
        rows = rows.filter(dag__in=Dependency.objects.filter(asset__name=wanted.asset).values("dag"))
    if wanted.key:
        rows = rows.filter(partition_key__icontains=wanted.key)
    return page_of(rows, after, size, newest_first=wanted.newest_first)


def runs(wanted: RunFilter, *, after: int = 0, size: int = PAGE) -> Page[DagRun]:
    """Runs, newest first."""
    rows = DagRun.objects.select_related("dag")
    if wanted.dag:
        rows = rows.filter(dag__dag_id=wanted.dag)
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.run_type:
        rows = rows.filter(run_type=wanted.run_type)
    if wanted.run_id:
        rows = rows.filter(run_id=wanted.run_id)
    if wanted.key:
        rows = rows.filter(partition_key__icontains=wanted.key)
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
