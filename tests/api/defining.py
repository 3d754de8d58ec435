"""Definitions worked out once, and written as rows into the database of each test that wants them."""

from pathlib import Path
from typing import Any

from django.apps import apps
from django.db import connection, models, transaction
from django.utils import timezone

from core.models import Asset, Dag, DefinitionSource, Dependency, EntryCount, JournalEntry, Outlet
from scheduling import definitions, holds

LAB = str(Path(__file__).with_name("lab.py"))
"""What most tests of the API define."""

WRITTEN = (DefinitionSource, Asset, Dag, Outlet, Dependency, JournalEntry)
"""What definitions write, each after what it refers to."""

Rows = list[tuple[Any, ...]]
_kept: dict[str, tuple[Any, dict[type[models.Model], Rows]]] = {}
"""By the path of a file: the instant at which it was defined, and all rows, as the database gave them."""


def define(path: str) -> None:
    """Define what the file at `path` does. In a database with anything else in it, that is done anew."""
    at = timezone.now()
    now = connection.ops.adapt_datetimefield_value(at)
    if path in _kept and not any(model.objects.exists() for model in WRITTEN):
        _write(*_kept[path], now)
        return
    is_alone = not _filled()
    definitions.sync([path], at=at)
    if is_alone:
        assert _filled() <= {*WRITTEN, EntryCount}  # triggers write the last one
        _kept[path] = now, {model: _read(model) for model in WRITTEN}


def settle_all() -> None:
    """All that the engine would do now: map events, judge what they touched."""
    while holds.route_pending(now=timezone.now()) or holds.judge_due(now=timezone.now()):
        pass


def _filled() -> set[type[models.Model]]:
    return {model for model in apps.get_app_config("core").get_models() if model.objects.exists()}


def _read(model: type[models.Model]) -> Rows:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_columns(model)} FROM {model._meta.db_table} ORDER BY id")
        return cursor.fetchall()


@transaction.atomic
def _write(then: Any, kept: dict[type[models.Model], Rows], now: Any) -> None:
    with connection.cursor() as cursor:
        for model, rows in kept.items():
            given = ", ".join(["%s"] * len(rows[0]))
            statement = f"INSERT INTO {model._meta.db_table} ({_columns(model)}) VALUES ({given})"
            cursor.executemany(statement, [[now if each == then else each for each in row] for row in rows])


def _columns(model: type[models.Model]) -> str:
    return ", ".join(connection.ops.quote_name(field.column) for field in model._meta.concrete_fields)
