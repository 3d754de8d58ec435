"""Rows of a list that are selected, to act on several at once. What is selected stands in the address."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.http import QueryDict
from django.utils import timezone

from core.models import DagRun, HeldRun
from partitions_site.templatetags.screens import for_keys
from partitions_site.web import days
from partitions_site.web.http import HtmxRequest, sight_of, whole
from scheduling import board
from scheduling.algebra.phrases import first_of
from scheduling.board import HeldFilter, RunFilter

MOST = 1000
"""Rows that are selected at once."""

ALL = "all"
"""What stands in the address for all rows that match what the list shows."""

NAMED = 3
"""Dags, and keys of each, that the bar names."""

Row = TypeVar("Row", bound=DagRun | HeldRun)


@dataclass(frozen=True, slots=True)
class Selected(Generic[Row]):
    """Rows, oldest first. `is_cut`: more match than are selected at once, and these are the first of them."""

    rows: list[Row]
    is_all: bool = False
    is_cut: bool = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def pks(self) -> frozenset[int]:
        return frozenset(row.pk for row in self.rows)

    @property
    def words(self) -> str:
        """`nightly 2026-03-09, 2026-03-10; report 2026-03`."""
        named = [f"{dag_id} {first_of(keys, NAMED)}" for dag_id, keys in by_dag(self.rows).items()]
        rest = len(named) - NAMED
        return "; ".join(named[:NAMED]) + (f"; and of {rest} more Dags" if rest > 0 else "")

    @property
    def ended(self) -> int:
        """How many runs of them have ended."""
        return sum(row.state in DagRun.FINISHED for row in self.rows)

    @property
    def open(self) -> int:
        """How many runs of them have not."""
        return len(self.rows) - self.ended


def runs_wanted(request: HtmxRequest) -> RunFilter:
    """What the list of runs is narrowed to."""
    return RunFilter(
        dag=request.GET.get("dag", ""),
        state=request.GET.get("state", ""),
        run_type=request.GET.get("type", ""),
        key=request.GET.get("key", "").strip(),
        run_id=request.GET.get("run", ""),
        due=days.lasting(days.named(request.GET.get("day", ""))),
        sight=sight_of(request),
    )


def held_wanted(request: HtmxRequest) -> HeldFilter:
    """What the list of held runs is narrowed to."""
    return HeldFilter(
        verdict=request.GET.get("verdict", ""),
        only_late=request.GET.get("late") == "yes",
        dag=request.GET.get("dag", ""),
        asset=request.GET.get("asset", ""),
        key=request.GET.get("key", "").strip(),
        newest_first=request.GET.get("order") == "newest",
        sight=sight_of(request),
    )


def runs_of(request: HtmxRequest) -> Selected[DagRun]:
    """The runs that the address selects, of those that are shown."""
    wanted, numbers = runs_wanted(request), _numbers(request.GET)
    if numbers is None:
        return all_runs(wanted)
    rows = (
        DagRun.objects.filter(wanted.sight.dags("dag"), pk__in=numbers) if numbers else DagRun.objects.none()
    )
    return Selected(list(rows.select_related("dag").order_by("pk")))


def held_of(request: HtmxRequest) -> Selected[HeldRun]:
    """The held runs that the address selects, of those that are shown; some may be held no more."""
    wanted, numbers = held_wanted(request), _numbers(request.GET)
    if numbers is None:
        return all_held(wanted)
    rows = (
        HeldRun.objects.filter(wanted.sight.dags("dag"), pk__in=numbers)
        if numbers
        else HeldRun.objects.none()
    )
    return Selected(list(rows.select_related("dag").order_by("pk")))


def all_runs(wanted: RunFilter) -> Selected[DagRun]:
    """All that match, up to `MOST`: the newest of them."""
    page = board.runs(wanted, size=MOST)
    return Selected(page.rows[::-1], is_all=True, is_cut=page.following is not None)


def all_held(wanted: HeldFilter) -> Selected[HeldRun]:
    """All that match, up to `MOST`: those that the list shows first."""
    page = board.held_runs(wanted, now=timezone.now(), size=MOST)
    rows = sorted(page.rows, key=lambda row: row.pk)
    return Selected(rows, is_all=True, is_cut=bool(page.following))


def by_dag(rows: Sequence[Row]) -> dict[str, list[str]]:
    """The keys of rows, in words and in order, by the names of their Dags."""
    keys: dict[str, list[str]] = {}
    for row in rows:
        keys.setdefault(row.dag.dag_id, []).append(key_of(row))
    return {dag_id: sorted(of_dag) for dag_id, of_dag in sorted(keys.items())}


def key_of(row: DagRun | HeldRun) -> str:
    return for_keys(row) if isinstance(row, DagRun) else row.partition_key or "no key"


def _numbers(query: QueryDict) -> list[int] | None:
    """The primary keys that an address names; None for all that match."""
    named = [each.strip() for text in query.getlist("sel") for each in text.split(",")]
    if ALL in named:
        return None
    return list(dict.fromkeys(filter(None, map(whole, named))))[:MOST]
