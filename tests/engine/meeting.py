"""Transactions that meet in one database, each made to wait where the other is in the middle of its work."""

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"


def apart(act: Callable[[], Any]) -> Any:
    """What `act` answers in a thread of its own, whose connection does not stay open."""
    try:
        return act()
    finally:
        connection.close()


def until_waiting(count: int) -> None:
    """Until so many others wait for locks in this database."""
    _until(lambda: _waiting() >= count, f"{count} others do not wait for locks")


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
                _until(
                    lambda: _waiting() >= sum(not other.done() for other in begun), "others go on for ever"
                )
        return [each.result(30) for each in begun]


def _until(is_so: Callable[[], bool], otherwise: str) -> None:
    for _ in range(400):
        if is_so():
            return
        time.sleep(0.02)
    pytest.fail(otherwise)


def _waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees the first one for ever
        cursor.execute(WAITING, [connection.settings_dict["NAME"]])
        return cursor.fetchone()[0]
