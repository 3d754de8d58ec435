"""How many rows a query has, from the counts that PostgreSQL keeps: a million are not read one by one.

1. A query that asks for nothing but what the counts tell apart (asset; Dag, type and state; Dag and kind),
   and for spans of time, is answered from them. For any other `known` has no answer.
2. Of a span of time, blocks that lie inside count whole, and those outside not at all. Rows of blocks on the
   edge are counted one by one: that is few, because primary keys come in the order of time, more or less.
3. Runs whose ids begin otherwise (`APART`) are told by all others, and an index of those that begin so: few.
4. Changes are added up now and then (`fold`). What is shown does not depend on it, only how fast.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.db import connection, models, transaction
from django.db.models import BooleanField, ExpressionWrapper, Max, Min, Q, QuerySet, Sum
from django.db.models.expressions import Col
from django.db.models.lookups import Lookup, StartsWith
from django.db.models.sql.where import AND, WhereNode

from core import locks
from core.models import AssetEvent, DagRun, EntryCount, EventCount, JournalEntry, RunCount
from core.models.counts import BLOCK

Rows = QuerySet[Any, Any]
Span = tuple[str, str, datetime]
"""A column of instants, how it is compared (`gte`), and with what."""

COUNTS: dict[type[models.Model], tuple[type[models.Model], tuple[str, ...]]] = {
    AssetEvent: (EventCount, ("asset",)),
    DagRun: (RunCount, ("dag", "run_type", "state")),
    JournalEntry: (EntryCount, ("dag_id", "event")),
}
"""Where the rows of a table are counted, and what those that are counted together have in common."""

APART = ("run_id", "asset_materialization__")
"""A column, and a beginning of few of its values, which an index of just those has."""

MOST_PARTS = 40
"""Parts of a table that are counted one by one; of more, the whole query is."""

FEW = 500
"""So many changes are not worth adding up."""


class _Unknown(Exception):
    """A query asks for something that the counts do not tell."""


def known(rows: Rows) -> int | None:
    """How many `rows` there are; None if the counts do not tell.

    It is made of up to four queries, each part as it is when it is asked for: all are of one moment in a
    transaction that sees one (`REPEATABLE READ`), or if nobody writes meanwhile.
    """
    if connection.vendor != "postgresql" or rows.model not in COUNTS or not _is_plain(rows):
        return None
    counts, alike = COUNTS[rows.model]
    try:
        narrowed, spans = _read(rows, alike)
    except _Unknown:
        return None
    whole = rows
    if _tells_apart(rows.query.where):
        times = [Q(**{f"{name}__{compared}": value}) for name, compared, value in spans]
        whole = rows.model._default_manager.filter(narrowed, *times)
    found = counts._default_manager.filter(narrowed)
    if spans:
        total = _within(whole, found, spans, ("state",) if "state" in alike else ())
    else:
        total = int(found.aggregate(total=Sum("rows", default=0))["total"])
    return total if whole is rows else total - _begun_so(whole) + _begun_so(rows)


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


def _is_plain(rows: Rows) -> bool:
    query = rows.query
    return not (query.is_sliced or query.distinct or query.combinator or query.group_by)


def _read(rows: Rows, alike: tuple[str, ...]) -> tuple[Q, list[Span]]:
    """What `rows` is narrowed by: in words of the counts, and the spans of time.

    :raises _Unknown: if it is by anything else.
    """
    narrowed, spans = Q(), []
    for each in _all_of(rows.query.where):
        if _begins_otherwise(each):
            continue
        if span := _span(rows, each):
            spans.append(span)
        else:
            narrowed &= _translated(rows, each, alike)
    return narrowed, spans


def _all_of(node: WhereNode) -> Iterator[Any]:
    """The conditions of which every one holds."""
    if node.connector != AND or node.negated:
        yield node
        return
    for each in node.children:
        if isinstance(each, WhereNode):
            yield from _all_of(each)
        else:
            yield each


def _span(rows: Rows, condition: Any) -> Span | None:
    if not (isinstance(condition, Lookup) and isinstance(condition.lhs, Col)):
        return None
    name, compared = condition.lhs.target.name, condition.lookup_name
    is_own = condition.lhs.alias == rows.query.get_initial_alias()
    columns = {field.name for field in COUNTS[rows.model][0]._meta.concrete_fields}
    if not is_own or f"{name}_from" not in columns or not isinstance(condition.rhs, datetime):
        return None
    return (name, compared, condition.rhs) if compared in ("gte", "gt", "lte", "lt") else None


def _translated(rows: Rows, node: Any, alike: tuple[str, ...], *, asserted: bool = True) -> Q:
    """A condition on rows as one on their counts: the columns that it is about have the same names."""
    if isinstance(node, WhereNode):
        asserted = asserted and not node.negated
        is_left_out = _begins_otherwise if asserted and node.connector == AND else _never
        parts = [
            _translated(rows, each, alike, asserted=asserted)
            for each in node.children
            if not is_left_out(each)
        ]
        found = Q(*parts, _connector=node.connector)
        return ~found if node.negated else found
    if not (isinstance(node, Lookup) and isinstance(node.lhs, Col)):
        raise _Unknown
    target, alias = node.lhs.target, node.lhs.alias
    if alias == rows.query.get_initial_alias():
        path, name = target.name, target.name
    else:
        join: Any = rows.query.alias_map[alias]
        if join.parent_alias != rows.query.get_initial_alias():
            raise _Unknown
        name = join.join_field.name
        path = f"{name}__{target.name}"
    if name not in alike:
        raise _Unknown
    return Q(**{f"{path}__{node.lookup_name}": node.rhs})


def _tells_apart(node: Any) -> bool:
    return _begins_otherwise(node) or (isinstance(node, WhereNode) and any(map(_tells_apart, node.children)))


def _begins_otherwise(node: Any) -> bool:
    """Whether it asks for what does not begin as `APART` says."""
    if not (isinstance(node, WhereNode) and node.negated and len(node.children) == 1):
        return False
    asked: Any = node.children[0]
    is_of_column = isinstance(asked, StartsWith) and isinstance(asked.lhs, Col)
    return is_of_column and (asked.lhs.target.name, asked.rhs) == APART


def _never(_: Any) -> bool:
    return False


def _begun_so(rows: Rows) -> int:
    column, beginning = APART
    return rows.order_by().filter(**{f"{column}__startswith": beginning}).count()


def _within(rows: Rows, counts: Rows, spans: Iterable[Span], apart: tuple[str, ...]) -> int:
    """Whole blocks by their counts, and the rows of those on the edge of a span."""
    inside, outside = Q(), Q()
    bounds: dict[str, Any] = {}
    for number, (name, compared, value) in enumerate(spans):
        first, last = f"first_{number}", f"last_{number}"
        bounds |= {first: Min(f"{name}_from"), last: Max(f"{name}_to")}
        begins = compared in ("gte", "gt")
        inside &= Q(**{f"{first if begins else last}__{compared}": value})
        outside |= ~Q(**{f"{last if begins else first}__{compared}": value})
    blocks = counts.values("block", *apart).annotate(total=Sum("rows"), **bounds)
    near = blocks.exclude(total=0).filter(~outside)
    near = near.annotate(is_whole=ExpressionWrapper(inside, output_field=BooleanField()))
    total, edges = 0, defaultdict(list)
    for block, *states, count, is_whole in near.values_list("block", *apart, "total", "is_whole"):
        if is_whole:
            total += count
        else:
            edges[tuple(states)].append(block)
    if not edges:
        return total
    if sum(map(len, edges.values())) > MOST_PARTS:
        return rows.order_by().count()
    return total + rows.order_by().filter(_on(edges, apart)).count()


def _on(edges: dict[tuple[str, ...], list[int]], apart: tuple[str, ...]) -> Q:
    """Rows of these blocks, in these states."""
    found = Q()
    for states, blocks in edges.items():
        spans = Q()
        for block in blocks:
            spans |= Q(pk__gte=block * BLOCK, pk__lt=(block + 1) * BLOCK)
        found |= spans & Q(**dict(zip(apart, states, strict=True)))
    return found
