"""What an asset's page shows beside its partitions: its events, and how it is defined."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.models import Asset, Dependency, Outlet
from partitions_site.web.http import HtmxRequest, later, sight_of, whole
from partitions_site.web.lineages import picture_of
from scheduling import board, dynamic
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.partitions import Partitions
from scheduling.belonging import Sight

TABS = ("partitions", "events", "lineage", "definition")


@dataclass(frozen=True, slots=True)
class Defined:
    """The partitions of an asset in words, with the first and last key that there are now.

    `problem`: why they cannot be told.
    """

    words: str = ""
    count: int = 0
    first: str | None = None
    last: str | None = None
    warnings: tuple[str, ...] = ()
    problem: str = ""


def tab_of(request: HtmxRequest) -> str:
    asked = request.GET.get("tab", "")
    return asked if asked in TABS else TABS[0]


def context_of(tab: str, request: HtmxRequest, row: Asset, now: datetime) -> dict[str, Any]:
    """What the template of `tab` needs."""
    if tab == "events":
        wanted, after = request.GET.get("contains", "").strip(), whole(request.GET.get("after"))
        return {
            "contains": wanted,
            "after": after,
            "page": later(board.events, row, key=wanted, after=after),
        }
    if tab == "lineage":
        return {"lineage": later(picture_of, row, sight_of(request), now)}
    if tab == "definition":
        return {
            "defined": later(_defined, row, now),
            "shows_whole": request.GET.get("whole") == "yes",
            "writers": later(lambda: list(_writers(row))),
            "readers": later(lambda: list(_readers(row, sight_of(request)))),
        }
    return {}


def _defined(row: Asset, now: datetime) -> Defined:
    if not row.partitions:
        return Defined()
    try:
        partitions: Partitions = dynamic.bound(specs.load(row.partitions, "partitions"))
        warnings = tuple(partitions.warnings(now))
        ends = partitions.first(now), partitions.last(now)
        return Defined(partitions.words(), partitions.count(now), *ends, warnings=warnings)
    except PartitionError as error:
        return Defined(problem=str(error))


def _writers(row: Asset) -> list[Outlet]:
    rows = Outlet.objects.filter(asset=row, dag__is_active=True).select_related("dag__source")
    return list(rows.order_by("dag__dag_id", "task_id"))


def _readers(row: Asset, sight: Sight) -> list[Dependency]:
    rows = Dependency.objects.filter(sight.dags("dag"), asset=row, dag__is_active=True).select_related("dag")
    return list(rows.order_by("dag__dag_id"))
