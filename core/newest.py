"""The first rows of each of many queries, in few statements."""

from collections.abc import Iterable
from typing import Any

from django.db import connection, models

PORTION = 100
"""Queries in one statement: SQLite takes 500."""


def first_of_each(queries: "Iterable[models.QuerySet[Any]]") -> list[int]:
    """The primary keys of what each of `queries`, ordered and cut off, gives."""
    parts = [each.values("pk").query.sql_with_params() for each in queries]
    found: list[int] = []
    for start in range(0, len(parts), PORTION):
        some = parts[start : start + PORTION]
        sql = " UNION ALL ".join(f"SELECT * FROM ({sql}) AS part" for sql, _ in some)  # noqa: S608
        with connection.cursor() as cursor:
            cursor.execute(sql, [value for _, values in some for value in values])
            found += [pk for (pk,) in cursor.fetchall()]
    return found
