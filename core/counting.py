"""How many rows a query has, from the counts that PostgreSQL keeps: a million are not read one by one.

1. A query that asks for nothing but what the counts tell apart (asset; Dag, type and state; Dag and kind),
   and for spans of time, is answered from them. For any other `known` has no answer.
2. Of a span of time, blocks that lie inside count whole, and those outside not at all. Rows of blocks on the
   edge are counted one by one: that is few, because primary keys come in the order of time, more or less.
3. Runs whose ids begin otherwise (`APART`) are told by all others, and an index of those that begin so: few.
4. Changes are added up now and then (`fold`). What is shown does not depend on it, only how fast.
"""

from collections import defaultdict
from typing import Any

from django.db import connection, models, transaction
from django.db.models import Count, Q, Sum

from core import locks
from core.asked import APART, COUNTS, Asked, Rows, asked_by
from core.models.counts import BLOCK

MOST_COUNTED = 6 * BLOCK
"""Rows on the edge of a span, of which each is looked at. If there are more, an index of its times counts."""

FEW = 500
"""So many changes are not worth adding up."""


def known(rows: Rows) -> int | None:
    """How many `rows` there are; None if the counts do not tell.

    It is made of up to four queries, each part as it is when it is asked for: all are of one moment in a
    transaction that sees one (`REPEATABLE READ`), or if nobody writes meanwhile.
    """
    asked = asked_by(rows)
    if asked is None or not asked.is_all:
        return None
    whole = rows
    if asked.tells_apart:
        times = [Q(**{f"{name}__{compared}": value}) for name, compared, value in asked.spans]
        whole = rows.model._default_manager.filter(asked.narrowed, *times)
    if asked.spans:
        total = _within(whole, asked)
    else:
        found = asked.counts._default_manager.filter(asked.narrowed)
        total = int(found.aggregate(total=Sum("rows", default=0))["total"])
    return total if whole is rows else total - begun_so(whole) + begun_so(rows)


def of_each(rows: Rows, *columns: str) -> dict[tuple[Any, ...], int]:
    """How many `rows` there are of each kind, by columns that their counts have too."""
    asked = asked_by(rows)
    if asked is None or not asked.is_all or asked.spans or asked.tells_apart:
        found = rows.order_by().values_list(*columns).annotate(total=Count("*"))
    else:
        counts = asked.counts._default_manager.filter(asked.narrowed)
        found = counts.order_by().values_list(*columns).annotate(total=Sum("rows"))
    return {tuple(kind): total for *kind, total in found if total}


def begun_so(rows: Rows) -> int:
    """How many of `rows` begin as `APART` says."""
    column, beginning = APART
    return rows.order_by().filter(**{f"{column}__startswith": beginning}).count()


def on(blocks: dict[tuple[str, ...], list[int]], apart: tuple[str, ...]) -> Q:
    """Rows of these blocks, in these states."""
    found = Q()
    for states, of_states in blocks.items():
        spans = Q()
        for block in of_states:
            spans |= Q(pk__gte=block * BLOCK, pk__lt=(block + 1) * BLOCK)
        found |= spans & Q(**dict(zip(apart, states, strict=True)))
    return found


def fold() -> None:
    """Add up what has changed; in vain if another process is at it."""
    if connection.vendor != "postgresql":
        return
    for counts, alike in COUNTS.values():
        if counts._default_manager.filter(is_change=True)[: FEW + 1].count() > FEW:
            _fold(counts, alike)


@transaction.atomic
def _fold(counts: type[models.Model], alike: tuple[str, ...]) -> None:
    """Put one row in the place of all that are alike.

    Where all of them come to nothing, there is none that their instants could be about: nothing is kept.
    """
    if not locks.try_folding():
        return
    columns = {field.name: str(field.column) for field in counts._meta.concrete_fields}
    keys = ", ".join(["block", *(columns[name] for name in alike)])
    instants = [name for name in columns if name.endswith(("_from", "_to"))]
    reached = ", ".join(f"{'min' if name.endswith('_from') else 'max'}({name})" for name in instants)
    table, into = counts._meta.db_table, ", ".join([keys, *instants, '"rows"', "is_change"])
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH gone AS (DELETE FROM {table} WHERE ({keys}) IN "  # noqa: S608
            f"(SELECT {keys} FROM {table} WHERE is_change) RETURNING *) "
            f'INSERT INTO {table} ({into}) SELECT {keys}, {reached}, sum("rows"), false '
            f'FROM gone GROUP BY {keys} HAVING sum("rows") <> 0'
        )


def _within(rows: Rows, asked: Asked) -> int:
    """Whole blocks by their counts, and the rows of those on the edge of a span."""
    total, left, edges = 0, 0, defaultdict(list)
    columns = ("block", *asked.apart, "total", "is_whole")
    for block, *states, count, is_whole in asked.parts().values_list(*columns):
        if is_whole:
            total += count
        else:
            left += count
            edges[tuple(states)].append(block)
    if not edges:
        return total
    if left > MOST_COUNTED:
        return rows.order_by().count()
    return total + rows.order_by().filter(on(edges, asked.apart)).count()
