"""Alerts are sent once, signed, over a real connection, and nobody waits for them."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import connection

from core.models import Alert, HeldRun, JournalEntry
from scheduling import alerts, tasks
from tests.engine import world
from tests.engine.world import IDENTITY, NOW, consumer, emit, turn
from tests.executors import receiver as replies

pytestmark = pytest.mark.django_db

SECRET = "correct horse battery"


@pytest.fixture
def alert(receiver, settings):
    settings.ALERT_URL, settings.ALERT_SECRET = receiver.url, SECRET
    consumer("meet", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "tw")
    turn()
    row = world.held("meet", "tw")
    return Alert.objects.create(
        held_run=row, body={"id": row.pk, "key": "Žalec"}, created_at=NOW, send_after=NOW
    )


def send(at=NOW):
    return alerts.send_next(clock=lambda: at)


def test_is_a_signed_post_of_its_body(alert, receiver):
    assert send()
    [request] = receiver.requests
    assert request.json == alert.body
    sent_at = request.headers["x-partita-timestamp"]
    assert sent_at == str(int(NOW.timestamp()))
    signed = hmac.new(SECRET.encode(), f"{sent_at}.".encode() + request.body, hashlib.sha256).hexdigest()
    assert request.headers["x-partita-signature"] == f"sha256={signed}"


def test_is_sent_once(alert, receiver):
    assert send()
    assert not send(NOW + timedelta(days=1))
    assert len(receiver.requests) == 1
    alert.refresh_from_db()
    assert (alert.sent_at, alert.send_after, alert.attempts) == (NOW, None, 1)


@pytest.mark.django_db(transaction=True)
def test_is_not_sent_by_two_at_once(alert, receiver):
    """A second sender looks while the first one waits for the answer."""
    second = []

    def answer_late(handler, request):
        second.append(send())
        connection.close()
        handler.send_response(200)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    receiver.replies = [answer_late]
    assert send()
    assert second == [False]
    assert len(receiver.requests) == 1


@pytest.mark.parametrize("reply", [(500, "no"), (302, None), replies.hang_up])
def test_is_tried_again_later_and_later(alert, receiver, reply):
    receiver.replies = [reply]
    tried = []
    at = NOW
    while send(at):
        tried.append(at)
        at = Alert.objects.get().send_after or at
        if len(tried) > 20:
            break
    assert len(tried) == alerts.ATTEMPTS
    waits = [later - before for before, later in pairwise(tried)]
    assert waits == [timedelta(seconds=30 * 2**n) for n in range(alerts.ATTEMPTS - 1)]
    entry = JournalEntry.objects.get(event="alert given up")
    assert (entry.dag_id, entry.partition_key, entry.extra["attempts"]) == ("meet", "tw", alerts.ATTEMPTS)
    assert Alert.objects.get().error == entry.extra["error"]


def test_a_failure_that_passes_is_forgotten(alert, receiver):
    receiver.replies = [(503, None), (204, None)]
    send()
    assert Alert.objects.get().error == "the alert address answered 503"
    assert send(NOW + timedelta(minutes=1))
    alert.refresh_from_db()
    assert (alert.error, alert.attempts) == ("", 2)
    assert alert.sent_at


def test_goes_into_no_network_that_is_not_open(alert, receiver, settings):
    settings.WEBHOOK_NETWORKS = []
    send()
    assert receiver.requests == []
    entry = JournalEntry.objects.get(event="alert given up")
    assert "in a network that webhooks may not call" in entry.extra["error"]
    assert not send(NOW + timedelta(days=1))


def test_the_task_sends_all_that_are_due(alert, receiver):
    for key in ("jp", "us"):
        emit("a", key)
        turn()
        row = world.held("meet", key)
        Alert.objects.create(held_run=row, body={"id": row.pk}, created_at=NOW, send_after=NOW)
    tasks.send_alerts()
    assert sorted(each.json["id"] for each in receiver.requests) == sorted(
        HeldRun.objects.values_list("pk", flat=True)
    )


def test_the_sweep_notes_what_is_late_and_rings_for_alerts(receiver, settings):
    settings.ALERT_URL, settings.ALERT_SECRET = receiver.url, SECRET
    hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
    world.dag(
        "ingest", hourly, writes=["a", "b"], start_date=datetime(2026, 3, 1, tzinfo=UTC), is_paused=True
    )
    consumer("meet", {"a": IDENTITY, "b": IDENTITY}, late_after=60)
    emit("a", "2026-03-10T09:00:00")
    turn()
    tasks.repair()
    assert Alert.objects.get().body["missing"][0]["owed_by"] == ["ingest"]
    assert receiver.requests == []
    tasks.send_alerts()
    assert [each.json["partition_key"] for each in receiver.requests] == ["2026-03-10T09:00:00"]
