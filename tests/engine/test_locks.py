"""What happens at the same time, which only PostgreSQL lets happen."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from core.models import HeldRun
from scheduling import holds
from scheduling.configuration import set_paused
from scheduling.refiling import refile
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, consumer, emit

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def test_a_change_of_mapper_waits_for_events_that_are_filed_by_the_old_one():
    dag = consumer("copy", {"a": HOURS_TO_DAY})
    emit("a", "2026-03-10T09:00:00")
    filed, may_commit = threading.Event(), threading.Event()

    def route():
        with transaction.atomic():
            holds.route_pending(now=NOW)
            filed.set()
            assert may_commit.wait(20)
        connection.close()

    def change():
        assert filed.wait(20)
        with transaction.atomic():
            dag.dependencies.update(mapper=IDENTITY)
            dag.revision += 1
            dag.save()
            threading.Timer(0.5, may_commit.set).start()
            refile(dag, deed=ALICE, at=NOW)
        connection.close()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(route), threads.submit(change)]:
            done.result(30)
    assert {row.partition_key: row.state for row in HeldRun.objects.all()} == {
        "2026-03-10": "superseded",
        "2026-03-10T09:00:00": "held",
    }


def test_a_dag_that_is_unpaused_and_the_events_that_are_filed_for_it_do_not_wait_for_each_other():
    dag = consumer("copy", {"a": IDENTITY})
    set_paused(dag, True, deed=ALICE, at=NOW)
    emit("a", "k1")
    holds.route_pending(now=NOW)
    emit("a", "k1", "k2")
    filed, may_commit = threading.Event(), threading.Event()

    def route():
        with transaction.atomic():
            holds.route_pending(now=NOW)
            filed.set()
            assert may_commit.wait(20)
        connection.close()

    def unpause():
        assert filed.wait(20)
        threading.Timer(0.5, may_commit.set).start()
        set_paused(dag, False, deed=ALICE, at=NOW)
        connection.close()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(route), threads.submit(unpause)]:
            done.result(30)
    assert HeldRun.objects.held().count() == 2


def test_two_that_open_the_same_held_run_count_into_one():
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")
    filed, may_commit = threading.Event(), threading.Event()

    def first():
        with transaction.atomic():
            holds.route_pending(now=NOW)
            filed.set()
            assert may_commit.wait(20)
        connection.close()

    def second():
        assert filed.wait(20)
        emit("b", "k")
        threading.Timer(0.5, may_commit.set).start()
        holds.route_pending(now=NOW)
        connection.close()

    with ThreadPoolExecutor(2) as threads:
        for done in [threads.submit(first), threads.submit(second)]:
            done.result(30)
    row = HeldRun.objects.get()
    assert (row.state, row.round, row.received.count(), row.consumed.count()) == ("fired", 1, 2, 2)
