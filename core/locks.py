"""Locks on what is no row: how a Dag listens, while events are filed by it; the runs that backfills queue.

A writer of SQLite is alone anyway; there these cost nothing.
"""

from collections.abc import Collection, Iterable

from django.db import connection

LISTENING = 7117
"""The class of these locks among the advisory locks of the database; any number that nobody else uses."""

BACKFILLING = 7120
"""The same of the locks of backfills that queue runs of a Dag."""

DRAWING = 7118
"""The lock of whoever draws."""

CONFIGURATION = 7119
"""The lock of whoever changes what Dags are."""

FOLDING = 7121
"""The lock of whoever adds up counts."""


UNDONE = {"40001", "40P01"}
"""What PostgreSQL says of a transaction that it has undone, all of it, for the sake of another one."""


def was_undone(error: Exception) -> bool:
    """Whether nothing of a transaction is left that ended so: it may be begun anew."""
    return getattr(error.__cause__, "sqlstate", None) in UNDONE


def try_drawing() -> bool:
    """Whether this transaction is the one that draws, until it ends. Waits for nobody."""
    return _try(DRAWING)


def try_folding() -> bool:
    """Whether this transaction is the one that adds up counts, until it ends. Waits for nobody."""
    return _try(FOLDING)


def share_listening(dag_ids: Iterable[int], alone: Collection[int] = ()) -> None:
    """Until this transaction ends, nobody changes how these Dags listen. Waits for a change under way.

    :param alone: of these Dags nobody else files events either.
    """
    ids = sorted(set(dag_ids))
    if not alone:
        _lock("pg_advisory_xact_lock_shared", ids)
    elif connection.vendor == "postgresql":
        held, shared = "pg_advisory_xact_lock(%s, id)", "pg_advisory_xact_lock_shared(%s, id)"
        chosen = f"CASE WHEN id = ANY(%s) THEN {held}::text ELSE {shared}::text END"
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {chosen} FROM unnest(%s::int[]) AS id",  # noqa: S608
                [list(alone), LISTENING, LISTENING, ids],
            )


def hold_listening(dag_id: int) -> None:
    """Wait for all who file events by the old way that this Dag listens; those who come wait for us."""
    _lock("pg_advisory_xact_lock", [dag_id])


def hold_backfilling(dag_ids: Iterable[int]) -> None:
    """Until this transaction ends, no other backfill queues runs of these Dags: each sees those of others."""
    _lock("pg_advisory_xact_lock", dag_ids, of=BACKFILLING)


def hold_configuration() -> None:
    """Until this transaction ends, nobody else changes how any Dag listens, nor what files say."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CONFIGURATION])


def _try(number: int) -> bool:
    if connection.vendor != "postgresql":
        return True
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
        return bool(cursor.fetchone()[0])


def _lock(function: str, dag_ids: Iterable[int], *, of: int = LISTENING) -> None:
    ids = sorted(set(dag_ids))
    if ids and connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {function}(%s, id) FROM unnest(%s::int[]) AS id", [of, ids])  # noqa: S608
