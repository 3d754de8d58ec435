"""Many rows in one statement, several times faster than through model instances.

PostgreSQL is handed one array per column, or the one value that all rows share, SQLite one tuple per row. For
the tables that every event writes; elsewhere `bulk_create` is fast enough and says more. Names in the
statements come from the models; values are always parameters.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import connection, models

from core import prepared

Rows = Sequence[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Ignore:
    """A row that breaks a unique constraint is left out."""

    def clause(self, table: str) -> str:
        return "ON CONFLICT DO NOTHING"


@dataclass(frozen=True, slots=True)
class Replace:
    """A row that is there already, by the `unique` columns, takes the new values of the columns `change`."""

    unique: tuple[str, ...]
    change: tuple[str, ...]

    def clause(self, table: str) -> str:
        return _changing(self.unique, [f"{_quoted(name)} = EXCLUDED.{_quoted(name)}" for name in self.change])


@dataclass(frozen=True, slots=True)
class Newest:
    """A row that is there already, by the `unique` columns, takes what is not older than what it has.

    `change` has groups of columns, each after the column that says how new it is; one that is null is as old
    as can be. So it does not matter which of two writers comes last.
    """

    unique: tuple[str, ...]
    change: tuple[tuple[str, tuple[str, ...]], ...]

    def clause(self, table: str) -> str:
        changes = []
        for by, columns in self.change:
            mine, given = f"{table}.{_quoted(by)}", f"EXCLUDED.{_quoted(by)}"
            for name in map(_quoted, columns):
                kept = f"CASE WHEN {mine} > {given} THEN {table}.{name} ELSE EXCLUDED.{name} END"
                changes.append(f"{name} = {kept}")
        return _changing(self.unique, changes)


def insert(
    model: type[models.Model],
    columns: Sequence[str],
    rows: Rows,
    conflict: Ignore | Replace | Newest | None = None,
) -> int:
    """Insert `rows`, values in the order of `columns`; rows are written, and locked, in the order given.

    Returns how many were written.

    A row that breaks a unique constraint is an IntegrityError, unless `conflict` says otherwise.

    :param columns: field names as the database has them (`asset_id`); columns left out take what the database
        gives them, so all that have no default of its own must be named.
    """
    if not rows:
        return 0
    names = tuple(columns)
    given = _columns(_fields(model, names), rows)
    with prepared.cursor() as cursor:
        if len(rows) == 1:
            cursor.execute(_insertion(model, names, conflict), [value for [value] in given])
        elif connection.vendor == "postgresql":
            same = (False, *(column.count(column[0]) == len(column) for column in given[1:]))
            once = [column[0] for column, is_same in zip(given, same, strict=True) if is_same]
            each = [column for column, is_same in zip(given, same, strict=True) if not is_same]
            cursor.execute(_insertion(model, names, conflict, same), [*once, *each])
        else:
            cursor.executemany(_insertion(model, names, conflict), list(zip(*given, strict=True)))
        return int(cursor.rowcount)


def insert_one(model: type[models.Model], columns: Sequence[str], row: tuple[Any, ...]) -> int:
    """Insert one row and return the primary key that the database gave it."""
    statement = _insertion(model, tuple(columns), None)
    given = _columns(_fields(model, tuple(columns)), [row])
    with prepared.cursor() as cursor:
        cursor.execute(f"{statement} RETURNING id", [value for [value] in given])
        return int(cursor.fetchone()[0])


def load(model: type[models.Model], columns: Sequence[str], rows: Rows) -> None:
    """Insert rows by the hundred thousand: PostgreSQL reads them as they come, twice as fast as `insert`.

    None of `columns` may be of JSON.
    """
    if not rows:
        return
    if connection.vendor != "postgresql":
        insert(model, columns, rows)
        return
    into = f"{_quoted(model._meta.db_table)} ({', '.join(map(_quoted, columns))})"
    statement = f"COPY {into} FROM STDIN"
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in rows:
            copy.write_row(row)


def update(model: type[models.Model], columns: Sequence[str], rows: Rows) -> None:
    """Set `columns` of many rows, each with values of its own; the primary key comes first in each row."""
    if not rows:
        return
    fields = [model._meta.pk, *_fields(model, tuple(columns))]
    table, given = _quoted(model._meta.db_table), _columns(fields, rows)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            sets = ", ".join(f"{_quoted(name)} = given.{_quoted(name)}" for name in columns)
            names = ", ".join(map(_quoted, ("id", *columns)))
            arrays = f"({_from_arrays(fields)}) AS given({names})"
            statement = f"UPDATE {table} SET {sets} FROM {arrays} WHERE {table}.id = given.id"  # noqa: S608
            cursor.execute(statement, given)
        else:
            sets = ", ".join(f"{_quoted(name)} = %s" for name in columns)
            turned = list(zip(*given[1:], given[0], strict=True))
            cursor.executemany(f"UPDATE {table} SET {sets} WHERE id = %s", turned)  # noqa: S608


def take_ids(model: type[models.Model], count: int) -> list[int]:
    """`count` fresh primary keys, ascending, that nobody else gets. Call inside a transaction."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            # The name of the sequence is looked up once: PostgreSQL would do that for every number.
            named = "(SELECT pg_get_serial_sequence(%s, 'id')::regclass AS name OFFSET 0) sequence"
            cursor.execute(f"SELECT nextval(name) FROM {named}, generate_series(1, %s)", [table, count])  # noqa: S608
            return sorted(row[0] for row in cursor.fetchall())
        cursor.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()[0]
        return list(range(last + 1, last + count + 1))


@cache
def _insertion(
    model: type[models.Model],
    columns: tuple[str, ...],
    conflict: Ignore | Replace | Newest | None,
    same: tuple[bool, ...] = (),
) -> str:
    """An INSERT of one row by its values; given which columns have the `same` value in all, of many rows."""
    table, marks = _quoted(model._meta.db_table), ", ".join(["%s"] * len(columns))
    given = _from_arrays(_fields(model, columns), same) if same else f"VALUES ({marks})"
    end = conflict.clause(table) if conflict else ""
    return f"INSERT INTO {table} ({', '.join(map(_quoted, columns))}) {given} {end}"


@cache
def _fields(model: type[models.Model], columns: tuple[str, ...]) -> list[Any]:
    by_column = {field.column: field for field in model._meta.concrete_fields}
    return [by_column[name] for name in columns]


def _from_arrays(fields: Sequence[Any], same: Sequence[bool] = ()) -> str:
    """A SELECT over one array per column, cast to the column's type (JSON travels as text).

    Columns that have the `same` value in all rows are not in arrays: their values come first.
    """
    same = same or [False] * len(fields)
    chosen, arrays, names = [], [], []
    for at, (field, is_same) in enumerate(zip(fields, same, strict=True)):
        kind = field.rel_db_type(connection)
        is_json = isinstance(field, models.JSONField)
        chosen.append(f"%s::{kind}" if is_same else f"c{at}::jsonb" if is_json else f"c{at}")
        if not is_same:
            arrays.append(f"%s::{'text' if is_json else kind}[]")
            names.append(f"c{at}")
    return f"SELECT {', '.join(chosen)} FROM unnest({', '.join(arrays)}) AS rows({', '.join(names)})"  # noqa: S608


def _columns(fields: Sequence[Any], rows: Rows) -> list[list[Any]]:
    """One list per column, its values as the driver wants them."""
    return [
        list(map(convert, column)) if (convert := _converter(field)) else list(column)
        for field, column in zip(fields, zip(*rows, strict=True), strict=True)
    ]


def _converter(field: Any) -> Callable[[Any], Any] | None:
    if isinstance(field, models.JSONField):
        return _nullable_json if field.null else json.dumps
    if isinstance(field, models.DateTimeField) and connection.vendor != "postgresql":
        return connection.ops.adapt_datetimefield_value
    return None


def _nullable_json(value: Any) -> str | None:
    return None if value is None else json.dumps(value)


def _changing(unique: Sequence[str], changes: Sequence[str]) -> str:
    return f"ON CONFLICT ({', '.join(map(_quoted, unique))}) DO UPDATE SET {', '.join(changes)}"


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)
