"""How many examples of what happens by chance are played."""

from django.db import connection


def examples(count: int) -> int:
    """All `count` of them on SQLite, and the first third on PostgreSQL.

    What is decided is the same on both; the second pass has to show that statements and locks of the other
    database do the same, for which it has all tests that are not by chance as well.
    """
    return count if connection.vendor == "sqlite" else max(1, count // 3)
