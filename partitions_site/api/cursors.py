"""Keyset paging: a cursor names the row that a page ends at, so a page costs the same wherever it lies.

Nulls come last going up and first going down, as PostgreSQL orders them unasked.
"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F, Field, Q, QuerySet
from django.db.models.functions import Coalesce

from core import blocks
from partitions_site.api.errors import BadRequest

Rows = QuerySet[Any, Any]


@dataclass(frozen=True, slots=True)
class Order:
    """One column of an order."""

    column: str
    descending: bool = False

    def __str__(self) -> str:
        return f"-{self.column}" if self.descending else self.column


@dataclass(frozen=True, slots=True)
class Cut:
    """The rows of one page and the cursors to its neighbours."""

    rows: list[Any]
    next_cursor: str | None
    previous_cursor: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page begins: beyond a row with these values, going on or going back."""

    values: list[Any]
    back: bool


def ordered(rows: Rows, orders: Sequence[Order], *, back: bool = False, by_index: bool = True) -> Rows:
    """`rows` in this order, or in the opposite one. Not `by_index`: sorted, whatever the database thinks."""
    return rows.order_by(*(_expression(rows, order, order.descending != back, by_index) for order in orders))


def first(
    rows: Rows, orders: Sequence[Order], limit: int, *, offset: int = 0, back: bool = False
) -> list[Any]:
    """So many of `rows` in this order, or in the opposite one, looked for in few blocks if there are such."""
    if not limit:
        return []
    for near in blocks.near(rows, orders[0].column, descending=orders[0].descending != back):
        some = ordered(near.rows, orders, back=back, by_index=False)[offset : offset + limit]
        found = list(ordered(rows.filter(pk__in=some.values("pk")), orders, back=back))
        if near.has_first(found, limit):
            return found
    return list(ordered(rows, orders, back=back)[offset : offset + limit])


def cut(rows: Rows, orders: Sequence[Order], token: str, limit: int) -> Cut:
    """The page that `token` leads to; the first one if it is empty.

    :raises BadRequest: for a token that was not given out for this order, or an order that no token can name.
    """
    if any(_is_unsaid(rows, order) for order in orders):
        raise BadRequest("No cursor leads through this order: page with limit and offset")
    place = _decoded(rows, orders, token) if token else None
    back = place is not None and place.back
    if place:
        rows = rows.filter(_beyond(rows, orders, place))
    found = first(rows, orders, limit + 1, back=back)
    more, page = len(found) > limit, found[:limit]
    if back:
        page.reverse()
    forth = page and (more or back)
    before = page and (more if back else place is not None)
    return Cut(
        page,
        _encoded(page[-1], orders, back=False) if forth else None,
        _encoded(page[0], orders, back=True) if before else None,
    )


def _expression(rows: Rows, order: Order, descending: bool, by_index: bool) -> Any:
    column = F(order.column) if by_index else Coalesce(order.column, order.column)  # which no index has
    if not _can_be_null(rows, order):
        return column.desc() if descending else column.asc()
    return column.desc(nulls_first=True) if descending else column.asc(nulls_last=True)


def _beyond(rows: Rows, orders: Sequence[Order], place: _Place) -> Q:
    """Rows behind the place. The first column is bounded once more by itself: an index serves that."""
    beyond, alike = Q(pk__in=[]), Q()
    for order, value in zip(orders, place.values, strict=True):
        descending = order.descending != place.back
        beyond |= alike & _past(order.column, value, descending, _can_be_null(rows, order))
        alike &= Q(**{f"{order.column}__isnull": True} if value is None else {order.column: value})
    order, value = orders[0], place.values[0]
    descending = order.descending != place.back
    if value is not None and (descending or not _can_be_null(rows, order)):
        beyond &= Q(**{f"{order.column}__{'lte' if descending else 'gte'}": value})
    return beyond


def _past(column: str, value: Any, descending: bool, nullable: bool) -> Q:
    if value is None:
        return Q(**{f"{column}__isnull": False}) if descending else Q(pk__in=[])
    if descending:
        return Q(**{f"{column}__lt": value})
    greater = Q(**{f"{column}__gt": value})
    return greater | Q(**{f"{column}__isnull": True}) if nullable else greater


def _encoded(row: Any, orders: Sequence[Order], *, back: bool) -> str:
    values = [_value(row, order.column) for order in orders]
    text = json.dumps([*map(str, orders), int(back), *values], default=str, separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _decoded(rows: Rows, orders: Sequence[Order], token: str) -> _Place:
    count = len(orders)
    try:
        text = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4)).decode()
        parts = json.loads(text, parse_constant=_refused)
        if parts[:count] != [*map(str, orders)] or len(parts) != 2 * count + 1:
            raise ValueError("of another order")
        fields = [_field(rows, order.column) for order in orders]
        values = [_read(field, part) for field, part in zip(fields, parts[count + 1 :], strict=True)]
        return _Place(values, back=bool(parts[count]))
    except (ValueError, TypeError, KeyError, ArithmeticError, ValidationError, RecursionError):
        raise BadRequest("Invalid cursor: begin again with an empty one, and keep the order") from None


def _read(field: "Field[Any, Any]", part: Any) -> Any:
    """:raises ValueError: for what no database could compare with a row."""
    if isinstance(part, str) and b"\x00" in part.encode():  # which fails for a lone surrogate
        raise ValueError("no text that a row could have")
    value = field.to_python(part)
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError("no number that a row could have")
    return value.astimezone(UTC) if isinstance(value, datetime) else value  # out of bounds: OverflowError


def _refused(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _value(row: Any, column: str) -> Any:
    for step in column.split("__"):
        row = getattr(row, step) if row is not None else None
    return row


def _is_unsaid(rows: Rows, order: Order) -> bool:
    """Whether rows are ordered by what they do not have with them, and no cursor could say."""
    query = rows.query
    return order.column in query.annotations and order.column not in query.annotation_select


def _can_be_null(rows: Rows, order: Order) -> bool:
    return order.column in rows.query.annotations or any(field.null for field in _path(rows, order.column))


def _field(rows: Rows, column: str) -> "Field[Any, Any]":
    if column in rows.query.annotations:
        found: Field[Any, Any] = rows.query.annotations[column].output_field
        return found
    return _path(rows, column)[-1]


def _path(rows: Rows, column: str) -> "list[Field[Any, Any]]":
    """The fields that lead to a column, which may belong to a related row."""
    model, path = rows.model, []
    for step in column.split("__"):
        path.append(model._meta.get_field(step))
        model = path[-1].related_model
    return path
