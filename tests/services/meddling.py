"""What people do to an engine while events come, all of them at once; see `turmoil`.

Each meddles as long as there is something to come, and then puts right what is wrong because of it.
"""

import itertools
import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from django.db import connection, transaction
from django.db.models import Count

from core.models import AssetEvent, Backfill, BackfillPartition, BackfillTarget, Dag, DagRun, HeldRun
from scheduling import backfills, configuration, corrections, retention, runs
from scheduling.algebra.errors import PartitionError
from scheduling.retention import Ages
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY

CANCELLED = ("pair", "after", "days")
"""Dags of which runs are cancelled, and tried again then."""

ANYTHING_OLD = Ages(logs=timedelta(0), runs=timedelta(0), events=timedelta(0))
"""Whatever is not needed goes at once. The journal stays: it says that all of this really happened."""

BY_DAY = {"hours": HOURS_TO_DAY}
BY_HOUR = {"hours": IDENTITY, "gate": IDENTITY}
"""The hours count for other held runs, which wait for what never comes."""

FORK = multiprocessing.get_context("fork")
posting = FORK.Value("i", 0)
"""How many have not posted all yet: the others go on as long as there are any."""

meddling = FORK.Value("i", 0)
"""How many have not put right yet what they meddled with."""


def pause() -> None:
    dags = list(Dag.objects.order_by("pk"))
    with meddles():
        for dag in itertools.cycle(dags):
            configuration.set_paused(dag, True, deed=ALICE, at=now())
            time.sleep(0.03)
            configuration.set_paused(dag, False, deed=ALICE, at=now())
            if not posting.value:
                return


def redefine() -> None:
    """Each change files everything anew that is open; every other one sends it somewhere else."""
    with meddles():
        while posting.value:
            for mappers in (BY_HOUR, BY_DAY):
                _listen_by(mappers)
                time.sleep(0.02)


def cancel_runs() -> None:
    """Cancels runs, queued or running, and tries them again when they are."""
    with meddles():
        while posting.value:
            open_runs = DagRun.objects.filter(dag__dag_id__in=CANCELLED, state__in=["queued", "running"])
            for run in open_runs.order_by("?")[:2]:
                with suppress(PartitionError):  # it has ended this moment
                    runs.cancel(run, deed=ALICE, at=now())
            _retry_cancelled()
        while _retry_cancelled() or DagRun.objects.filter(state="running", cancel_requested=True).exists():
            time.sleep(0.02)


def steer() -> None:
    """One backfill is paused and resumed; the other cancelled, and what was not done taken up again."""
    kept, taken_back = Backfill.objects.order_by("pk")
    with meddles():
        while posting.value:
            for deed, backfill in (
                (backfills.pause, kept),
                (backfills.cancel, taken_back),
                (backfills.resume, kept),
                (backfills.resume, taken_back),
            ):
                with suppress(PartitionError):  # it is over
                    deed(backfill, deed=ALICE, at=now())
                time.sleep(0.05)


def prune() -> None:
    with meddles():
        while posting.value:
            retention.prune(ANYTHING_OLD, now=now())


def watch() -> None:
    """At every moment the counts of a backfill are those of its rows, and no limit is exceeded."""
    while is_going_on():
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            for target in BackfillTarget.objects.all():
                rows = BackfillPartition.objects.filter(target=target).order_by().values_list("state")
                found = dict(rows.annotate(Count("pk")))
                told = {name: getattr(target, name) for name in ("done", "skipped", "cancelled")}
                assert told == {name: found.get(name, 0) for name in told}, (told, found)
                assert target.planned == sum(found.values())
            running = DagRun.objects.filter(state="running").order_by().values_list("dag__dag_id")
            most = {dag_id: count for dag_id, count in running.annotate(Count("pk")) if count > 3}
            assert not most, most
        time.sleep(0.02)


PEOPLE: list[Callable[[], None]] = [pause, redefine, cancel_runs, steer, prune]


def is_going_on() -> bool:
    return bool(
        posting.value
        or meddling.value
        or AssetEvent.objects.filter(routed_at=None).exists()
        or HeldRun.objects.due(now()).exists()
        or DagRun.objects.filter(state__in=["queued", "running"]).exists()
        or Backfill.objects.filter(completed_at=None).exists()
    )


@contextmanager
def meddles() -> Iterator[None]:
    with one_less(meddling):
        yield


@contextmanager
def one_less(count) -> Iterator[None]:
    try:
        yield
    finally:
        with count.get_lock():
            count.value -= 1


def now() -> datetime:
    return datetime.now(UTC)


def _listen_by(mappers: dict[str, dict[str, object]]) -> None:
    dag, leaves = Dag.objects.get(dag_id="days"), [{"asset": name} for name in mappers]
    schedule = {
        "type": "PartitionedAssetTimetable",
        "assets": leaves[0] if len(leaves) == 1 else {"all": leaves},
        "mapper_config": [
            {"asset": leaf, "mapper": mapper} for leaf, mapper in zip(leaves, mappers.values(), strict=True)
        ],
    }
    deed = replace(ALICE, reason="to see what becomes of it")
    configuration.change_schedule(dag, schedule, deed=deed, at=now(), revision=dag.revision)


def _retry_cancelled() -> int:
    cancelled = list(DagRun.objects.filter(dag__dag_id__in=CANCELLED, state="cancelled"))
    for run in cancelled:
        corrections.retry(run, deed=ALICE, at=now())
    return len(cancelled)
