"""How many rows a list has, exactly, without reading a million index entries for every page of it.

PostgreSQL keeps counts by what people narrow the long lists by, and by time (`core.counting`): what can be
answered from them is never old: each part is as it is when it is asked for. All else is counted, which takes
time that grows with what is counted. So such a total, if it is large, is kept for some seconds, with the last
primary key that it counted, and what has been added since is counted each time. What was taken away, or does
not match any more, shows when all is counted again.
"""

from dataclasses import dataclass
from time import monotonic
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db.models import Count, IntegerField, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from core import counting

Rows = QuerySet[Any, Any]

LARGE = 50_000
"""Totals up to this are always counted."""

KEPT_SECONDS = 10

MOST_KEPT = 500


@dataclass(frozen=True, slots=True)
class _Total:
    """So many rows there were up to the primary key `last`, the last of all then."""

    rows: int
    last: int
    until: float


_kept: dict[Any, _Total] = {}


def count(rows: Rows) -> int:
    """How many `rows` there are.

    Of more than `LARGE` that no count tells, those of some seconds ago and those added since.
    """
    asked = rows.order_by()
    try:
        name = asked.query.sql_with_params()
    except EmptyResultSet:
        return 0
    if (counted := counting.known(asked)) is not None:
        return counted
    kept = _kept.get(name)
    if kept is not None and monotonic() < kept.until:
        return kept.rows + asked.filter(pk__gt=kept.last).count()
    total, last = _counted(asked)
    if total > LARGE:
        if len(_kept) >= MOST_KEPT:
            _kept.clear()
        _kept[name] = _Total(total, last, monotonic() + KEPT_SECONDS)
    return total


def _counted(rows: Rows) -> tuple[int, int]:
    """The total and the last primary key of all, by one statement: both are of one moment."""
    counted = rows.annotate(nothing=Value(0)).values("nothing").annotate(counted=Count("*")).values("counted")
    total = Coalesce(Subquery(counted, output_field=IntegerField()), 0)
    newest = rows.model._default_manager.order_by("-pk").annotate(total=total)
    found: tuple[int, int] | None = newest.values_list("total", "pk").first()
    return found or (0, 0)
