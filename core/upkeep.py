"""What SQLite needs now and then to choose its ways well; PostgreSQL looks after that itself."""

from django.db import connection, transaction

LOOKED_AT = 1000
"""Rows of each index from which it is estimated how its values are spread: all would take too long."""


def refresh_statistics() -> None:
    """Count anew what has grown a lot since it was counted, as the database thinks fit. Mostly does nothing.

    Source: https://www.sqlite.org/pragma.html#pragma_optimize.
    """
    if connection.vendor == "sqlite":
        # A transaction waits for its turn to write; what only then begins to write is refused at once.
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"PRAGMA analysis_limit = {LOOKED_AT}")
            cursor.execute("PRAGMA optimize")
