"""Of two that wait for each other the database undoes one: what it was to record is recorded all the same."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection, transaction
from rest_framework.test import APIClient

from core import locks
from core.models import AssetEvent, Partition
from scheduling import events
from scheduling.events import EventReport, register_each, register_events
from tests.engine.meeting import apart, until_waiting
from tests.engine.world import ALICE, NOW, asset, emit

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]
API = AssetEvent.Source.API


def hold(key):
    Partition.objects.select_for_update(no_key=True).get(key=key)


def crosswise(record):
    """What `record` answers, which locks `k` and then `l`: another has `l` by then, and wants `k`.

    The other is patient: it is `record` that the database undoes.
    """
    emit("a", "k", "l")
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL deadlock_timeout = '60s'")
            hold("l")
            recording = threads.submit(apart, record)
            until_waiting(1)
            hold("k")
        return recording.result(30)


def together():
    asked = [(EventReport(asset("a"), key, idempotency_key=key), ALICE) for key in "kl"]
    return register_each(asked, source=API, at=NOW)


def in_bulk():
    reports = [EventReport(asset("a"), key) for key in "kl"]
    return register_events(reports, source=API, deed=ALICE, at=NOW)


@pytest.mark.parametrize("record", [together, in_bulk])
def test_what_was_undone_is_recorded_once(record):
    answers = crosswise(record)
    assert [answer.is_new for answer in answers] == [True, True]
    assert AssetEvent.objects.count() == 4
    assert [answer.event.partition_key for answer in answers] == ["k", "l"]


def test_what_was_undone_under_an_idempotency_key_is_recorded_once():
    """The answer is kept in the same transaction: all of it is begun anew."""
    client = APIClient()
    client.force_authenticate(User.objects.create_superuser("root"))
    body = [{"asset_id": asset("a").pk, "partition_key": key} for key in "kl"]

    def ask():
        return client.post("/api/v2/assets/events/bulk", body, format="json", HTTP_IDEMPOTENCY_KEY="k")

    first, second = crosswise(ask), ask()
    assert (first.status_code, first.json()["created"]) == (200, 2)
    assert second.json() == first.json()
    assert AssetEvent.objects.count() == 4


def test_a_deadlock_is_told_from_other_errors(monkeypatch):
    """What it undoes is whole; whether a commit was done whose connection is lost nobody can tell."""
    monkeypatch.setattr(events, "MOST_UNDONE", 0)
    with pytest.raises(OperationalError) as deadlock:
        crosswise(together)
    assert locks.was_undone(deadlock.value)
    assert not locks.was_undone(OperationalError("server closed the connection unexpectedly"))
