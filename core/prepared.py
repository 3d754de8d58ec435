"""Statements that are executed all the time: PostgreSQL plans them once for each connection.

To plan one takes longer than to execute it.
"""

from typing import Any

from django.db import connection


def cursor() -> Any:
    """A cursor for statements of which only the values differ. On other databases it is the usual one."""
    prepared = getattr(connection, "prepared_cursor", None)
    return prepared() if prepared else connection.cursor()
