"""What a query of a long list asks for, in words of the counts that are kept of it (`core/models/counts`)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, models
from django.db.models import BooleanField, ExpressionWrapper, Max, Min, Q, QuerySet, Sum
from django.db.models.expressions import Col
from django.db.models.lookups import Lookup, StartsWith
from django.db.models.sql.where import AND, WhereNode

from core.models import AssetEvent, DagRun, EntryCount, EventCount, JournalEntry, RunCount

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


@dataclass(frozen=True, slots=True)
class Asked:
    """What a query is narrowed by: what rows have in common, and spans of time.

    :param about: the columns of what they have in common that it is narrowed by.
    :param tells_apart: it also asks for what does not begin as `APART` says.
    :param is_all: it asks for nothing else.
    """

    counts: type[models.Model]
    alike: tuple[str, ...]
    narrowed: Q
    about: set[str]
    spans: list[Span]
    tells_apart: bool
    is_all: bool

    @property
    def apart(self) -> tuple[str, ...]:
        """What parts of a block are told by, because an index finds them."""
        return ("state",) if "state" in self.alike else ()

    @property
    def columns(self) -> set[str]:
        return {field.name for field in self.counts._meta.concrete_fields}

    @property
    def is_of_parts(self) -> bool:
        """Whether parts of a block have no rows but such, as far as times do not tell them."""
        return self.about <= {*self.apart}

    def parts(self) -> Rows:
        """What may have such rows of each block: how many it has (`total`), and whether all are (`is_whole`).

        Whole or not, rows may lack what begins as `APART` says, and what the query asks for besides.
        """
        names = {name for name, _, _ in self.spans}
        bounds: dict[str, Any] = {f"first_{name}": Min(f"{name}_from") for name in names}
        bounds |= {f"last_{name}": Max(f"{name}_to") for name in names}
        found = self.counts._default_manager.filter(self.narrowed)
        blocks = found.values("block", *self.apart).annotate(total=Sum("rows"), **bounds)
        near = blocks.exclude(total=0).filter(*(_bound(span, reached=True) for span in self.spans))
        inside = Q(*(_bound(span, reached=False) for span in self.spans), total__gt=0)
        parts: Rows = near.annotate(is_whole=ExpressionWrapper(inside, output_field=BooleanField()))
        return parts


class _Unknown(Exception):
    """A condition that the counts do not tell."""


def asked_by(rows: Rows) -> Asked | None:
    """What `rows` are narrowed by, as far as their counts tell; None if nobody counts them."""
    if connection.vendor != "postgresql" or rows.model not in COUNTS or not _is_plain(rows):
        return None
    counts, alike = COUNTS[rows.model]
    narrowed, spans, is_all = Q(), [], True
    for each in _all_of(rows.query.where):
        if _begins_otherwise(each):
            continue
        if span := _span(rows, each):
            spans.append(span)
            continue
        try:
            narrowed &= _translated(rows, each, alike)
        except _Unknown:
            is_all = False
    about: set[str] = narrowed.referenced_base_fields
    return Asked(counts, alike, narrowed, about, spans, _tells_apart(rows.query.where), is_all)


def _bound(span: Span, *, reached: bool) -> Q:
    """Parts of which perhaps some row lies in `span`, or every one."""
    name, compared, value = span
    end = "last" if (compared in ("gte", "gt")) == reached else "first"
    return Q(**{f"{end}_{name}__{compared}": value})


def _is_plain(rows: Rows) -> bool:
    query = rows.query
    return not (query.is_sliced or query.distinct or query.combinator or query.group_by)


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
