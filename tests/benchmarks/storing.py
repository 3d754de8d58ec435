"""Databases for benchmarks: empty ones, and many rows at once into them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import islice
from typing import Any

from tests import servers

PORTION = 50_000


def database(stack: ExitStack, name: str, on_sqlite: bool, directory: str) -> str:
    """The URL of an empty database for the time of `stack`: a file, or on a PostgreSQL server.

    :raises Missing: if there is no such server.
    """
    if on_sqlite:
        return f"sqlite:///{directory}/{name}.sqlite3"
    server = stack.enter_context(servers.postgres())
    return stack.enter_context(servers.empty_postgres_database(server, f"partita_{name}_{os.getpid()}"))


def settle() -> None:
    """As the database is some minutes after all that: what autovacuum does, or the sweep, here at once."""
    from django.db import connection

    from core import upkeep

    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("VACUUM ANALYZE")
        else:
            cursor.execute(f"PRAGMA analysis_limit = {upkeep.LOOKED_AT}")
            cursor.execute("ANALYZE")


def load(model: Any, columns: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    """Store `rows`, however many there are, a portion at a time."""
    from core import bulk

    left = iter(rows)
    while some := list(islice(left, PORTION)):
        bulk.load(model, columns, some)


def written(value: Any) -> Any:
    """JSON as `load` wants it: COPY takes text, other databases a value."""
    from django.db import connection

    return json.dumps(value) if connection.vendor == "postgresql" else value
