"""Queries that are asked all the time. Their SQL is made once: making it takes longer than the answer."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.db import connection, models

from core import prepared

M = TypeVar("M", bound=models.Model)


class Compiled:
    """The rows of a `values_list` query, as tuples, for values that differ from one time to the next.

    `make` gives the query for `examples`, which must be unlike each other and unlike anything else in it.
    """

    def __init__(self, make: Callable[..., "models.QuerySet[Any, Any]"], *examples: Any) -> None:
        self._make, self._examples = make, examples
        self._parts: tuple[str, list[Any], Any] | None = None

    def __call__(self, *given: Any) -> list[tuple[Any, ...]]:
        """The rows for the values `given`, in the order of the examples."""
        sql, parameters, converters = self._parts or self._compile()
        values = dict(zip(self._examples, given, strict=True))
        with prepared.cursor() as cursor:
            cursor.execute(sql, [values.get(each, each) for each in parameters])
            rows = cursor.fetchall()
        return [_converted(row, converters) for row in rows] if converters else rows

    def _compile(self) -> tuple[str, list[Any], Any]:
        compiler = self._make(*self._examples).query.get_compiler(connection=connection)
        sql, parameters = compiler.as_sql()
        columns = [column for column, _, _ in compiler.select[: compiler.col_count]]
        self._parts = sql, list(parameters), list(compiler.get_converters(columns).items())
        return self._parts


def columns(model: type[models.Model], path: str = "") -> list[str]:
    """The names of all columns of `model`, for `values_list`; `path` leads to it (`user__`)."""
    return [f"{path}{field.attname}" for field in model._meta.concrete_fields]


def built(model: type[M], values: tuple[Any, ...]) -> M:
    """The instance of `model` that the values of all its `columns` make."""
    return model.from_db(connection.alias, columns(model), values)


def _converted(row: tuple[Any, ...], converters: Any) -> tuple[Any, ...]:
    values = list(row)
    for place, (converts, expression) in converters:
        for convert in converts:
            values[place] = convert(values[place], expression, connection)
    return tuple(values)
