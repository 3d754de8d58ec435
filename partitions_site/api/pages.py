"""Lists: narrowed, ordered and cut into pages in one place, as section 2 of the API's conventions has it.

By `limit` and `offset` the total is exact (`totals`). By `cursor` (where a list has it) a page costs the same
wherever it lies, and the total stops counting at `MOST_COUNTED`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter, extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core import counting
from partitions_site.api import cursors, totals
from partitions_site.api.cursors import Order
from partitions_site.api.errors import BadRequest
from partitions_site.api.fields import Whole
from partitions_site.api.filters import Filter
from partitions_site.api.forms import read_value
from partitions_site.api.schema import either, gives

LIMIT, MOST_ROWS, MOST_ORDERS, MOST_COUNTED = 50, 100, 10, 50_000

Rows = QuerySet[Any, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """Some rows of a list. `total_limit` is where counting stopped, None if it did not have to."""

    rows: list[Any]
    total: int
    total_limit: int | None = None
    next_cursor: str | None = None
    previous_cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """One list of the API: the name of its rows, how a row is written, what narrows and orders it.

    :param orders: what `order_by` may say, and the column it means.
    :param default: columns of the order if none is asked for.
    :param bounded: the list is ours: cursors are offered, and counting stops at `MOST_COUNTED` either way.
    :param cursors: cursors are offered.
    """

    noun: str
    out: type[serializers.Serializer[Any]]
    orders: dict[str, str]
    filters: Sequence[Filter] = ()
    default: tuple[str, ...] = ("id",)
    cursors: bool = False
    bounded: bool = False
    parameters: Sequence[OpenApiParameter] = field(default=())

    def answer(
        self,
        request: Request,
        rows: Rows,
        *,
        narrow: bool = True,
        prepare: Callable[[list[Any]], dict[str, Any]] = lambda rows: {},
    ) -> Response:
        """One page of `rows`, narrowed by the query unless they were before.

        `prepare` reads what is needed beside the rows, for all of them at once.
        """
        query = request.query_params
        page = self.page(query, rows.filter(self.narrowed(query)) if narrow else rows)
        return Response(self.written(page, prepare(page.rows)))

    def page(self, query: QueryDict, rows: Rows) -> Page:
        """:raises Invalid: if a parameter does not fit."""
        orders = self._orders(query.getlist("order_by"))
        limit = min(number(query, "limit", LIMIT), MOST_ROWS)
        token = query.get("cursor") if self._has_cursors else None
        if token is not None:
            return self._page_by_cursor(rows, orders, token, limit)
        return self._page_by_offset(rows, orders, number(query, "offset", 0), limit)

    def narrowed(self, query: QueryDict) -> Q:
        narrowed = Q()
        for each in self.filters:
            narrowed &= each.narrow(query)
        return narrowed

    def narrowing(self) -> list[OpenApiParameter]:
        """The parameters of its filters."""
        return [parameter for each in self.filters for parameter in each.parameters()]

    def described(
        self,
        name: str,
        summary: str,
        *,
        refusals: Sequence[int] = (),
        also: Sequence[type[serializers.Serializer[Any]]] = (),
    ) -> Callable[[Any], Any]:
        """Describe the method that answers with this list, or with one of `also`."""
        page = self.collection(name)
        answer = either(f"{name}_or_other", page, *also) if also else page
        return extend_schema(
            operation_id=name,
            summary=summary,
            parameters=[*self.narrowing(), *self.parameters, *self._page_parameters()],
            responses=gives(answer, refusals=(400, 422, *refusals)),
        )

    def collection(self, operation: str) -> serializers.Serializer[Any]:
        """What a page looks like, for the description of an operation."""
        fields: dict[str, Any] = {self.noun: self.out(many=True), "total_entries": serializers.IntegerField()}
        if self._has_cursors:
            fields |= {name: made() for name, made in CURSOR_FIELDS.items()}
        found: serializers.Serializer[Any] = inline_serializer(
            f"{operation.title().replace('_', '')}Out", fields
        )
        return found

    @property
    def _has_cursors(self) -> bool:
        return self.cursors or self.bounded

    def _page_by_offset(self, rows: Rows, orders: list[Order], offset: int, limit: int) -> Page:
        if self.bounded and offset > MOST_COUNTED:
            raise BadRequest(f"offset reaches {MOST_COUNTED} rows; page with cursor= beyond that")
        found = cursors.first(rows, orders, limit, offset=offset)
        if len(found) < limit and (found or not offset):
            return Page(found, offset + len(found))
        if not self.bounded:
            return Page(found, totals.count(rows))
        total = _count_up_to_limit(rows)
        return Page(found, min(total, MOST_COUNTED), MOST_COUNTED if total > MOST_COUNTED else None)

    def _page_by_cursor(self, rows: Rows, orders: list[Order], token: str, limit: int) -> Page:
        cut = cursors.cut(rows, orders, token, limit)
        total = min(_count_up_to_limit(rows), MOST_COUNTED)
        return Page(cut.rows, total, MOST_COUNTED, cut.next_cursor, cut.previous_cursor)

    def _orders(self, asked: Sequence[str]) -> list[Order]:
        """The columns to order by, the primary key last, in the direction of the first."""
        if len(asked) > MOST_ORDERS:
            raise BadRequest(f"Ordering with more than {MOST_ORDERS} parameters is not allowed")
        orders = [self._order(each) for each in asked] or [_order_of_column(each) for each in self.default]
        if any(order.column in ("id", "pk") for order in orders):
            return orders
        return [*orders, Order("id", orders[0].descending)]

    def _order(self, asked: str) -> Order:
        name = asked.removeprefix("-")
        if name not in self.orders:
            raise BadRequest(
                f"Ordering with '{name}' is disallowed or the attribute does not exist on the model"
            )
        return Order(self.orders[name], asked.startswith("-"))

    def written(self, page: Page, context: dict[str, Any] | None = None) -> dict[str, Any]:
        """A page as it is answered."""
        rows = self.out(page.rows, many=True, context=context or {}).data
        envelope = {self.noun: rows, "total_entries": page.total}
        if self._has_cursors:
            envelope |= {
                "total_entries_limit": page.total_limit,
                "next_cursor": page.next_cursor,
                "previous_cursor": page.previous_cursor,
            }
        return envelope

    def _page_parameters(self) -> list[OpenApiParameter]:
        names = ", ".join(sorted(self.orders))
        words = f"{names}; a leading - turns it round; may be repeated"
        return [
            *SLICE,
            OpenApiParameter("order_by", str, many=True, description=words),
            *([OpenApiParameter("cursor", str, description=CURSOR_WORDS)] if self._has_cursors else []),
        ]


def number(query: QueryDict, name: str, default: int) -> int:
    """A parameter that counts: `limit` or `offset`.

    :raises Invalid: if it is no whole number, 0 or more.
    """
    if (given := query.get(name)) is None:
        return default
    found: int = read_value(Whole(min_value=0, max_value=2**31), given, ["query", name])
    return found


SLICE = (
    OpenApiParameter("limit", int, default=LIMIT, description=f"Rows of a page, at most {MOST_ROWS}"),
    OpenApiParameter("offset", int, default=0, description="Rows to pass over"),
)

CURSOR_WORDS = "Empty for the first page, then `next_cursor` or `previous_cursor` of the page before"
CURSOR_FIELDS: dict[str, Callable[[], serializers.Field[Any, Any, Any, Any]]] = {
    "total_entries_limit": lambda: serializers.IntegerField(allow_null=True),
    "next_cursor": lambda: serializers.CharField(allow_null=True),
    "previous_cursor": lambda: serializers.CharField(allow_null=True),
}


def _order_of_column(column: str) -> Order:
    return Order(column.removeprefix("-"), column.startswith("-"))


def _count_up_to_limit(rows: Rows) -> int:
    if (counted := counting.known(rows.order_by())) is not None:
        return counted
    # The key alone: what lists are annotated with, SQLite would work out for every row.
    return rows.order_by().values("pk")[: MOST_COUNTED + 1].count()
