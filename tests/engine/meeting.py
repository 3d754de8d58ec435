"""Transactions that meet in one database, each made to wait where the other is in the middle of its work."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from django.db import connection, transaction

from tests.waiting import wait_for

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"


def apart(act: Callable[[], Any]) -> Any:
    """What `act` answers in a thread of its own, whose connection does not stay open."""
    try:
        return act()
    finally:
        connection.close()


def until_waiting(count: int) -> None:
    """Until so many others wait for locks in this database."""
    wait_for(lambda: _waiting() >= count, or_else=f"{count} others do not wait for locks")


def meet(first: Callable[[], Any], *others: Callable[[], Any]) -> list[Any]:
    """Do `first`; commit it when `others`, begun one after the other, all wait for a lock or are done.

    Each of `others` begins when those before it wait. Returns their answers.
    """
    begun: list[Future] = []
    with ThreadPoolExecutor(len(others)) as threads:
        with transaction.atomic():
            first()
            for each in others:
                begun.append(threads.submit(apart, each))
                wait_for(
                    lambda: _waiting() >= sum(not other.done() for other in begun),
                    or_else="others go on for ever",
                )
        return [each.result(30) for each in begun]


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees the first one for ever
        cursor.execute(WAITING, [connection.settings_dict["NAME"]])
        return cursor.fetchone()[0]
