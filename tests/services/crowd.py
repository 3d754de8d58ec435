"""Processes that crowd around one database.

`python -m tests.services.crowd post ASSET KEY...`, or `… engine`, `… judge` or `… work`. They begin together:
each waits until PARTITA_TEST_CROWD of them have come to the directory PARTITA_TEST_MEETING.
"""

import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import django

django.setup()

from core.models import Asset, AssetEvent, DagRun, HeldRun  # noqa: E402
from scheduling import claims, events, holds  # noqa: E402
from scheduling.events import EventReport  # noqa: E402
from scheduling.journal import Deed  # noqa: E402

QUIET_SECONDS = 5


def post(name: str, *keys: str) -> None:
    """Report each key in a transaction of its own."""
    asset, deed = Asset.objects.get(name=name), Deed(by=f"process {os.getpid()}", via="api")
    for key in keys:
        events.register_events(
            [EventReport(asset, key)], source=AssetEvent.Source.API, deed=deed, at=datetime.now(UTC)
        )


def engine() -> None:
    """Map and judge in small portions, so that many meet, until nothing has come for a while."""
    worked = time.monotonic()
    while time.monotonic() - worked < QUIET_SECONDS:
        now = datetime.now(UTC)
        if holds.route_pending(now=now, limit=7) + holds.judge_due(now=now, limit=3):
            worked = time.monotonic()
        else:
            time.sleep(0.01)


def judge() -> None:
    """Judge in small portions until nothing is due."""
    while HeldRun.objects.due(datetime.now(UTC)).exists():
        holds.judge_due(now=datetime.now(UTC), limit=5)


def work() -> None:
    """Dispatch and claim, as one worker of many, until every run is done; whoever has a run sees that no
    other one has a slot that is not there."""
    open_states = [DagRun.State.QUEUED, DagRun.State.RUNNING]
    while DagRun.objects.filter(state__in=open_states).exists():
        for pk in _messages():
            if run := claims.claim(pk, worker=f"process {os.getpid()}", now=datetime.now(UTC)):
                _look_around(run)
                claims.succeed(run, [], at=datetime.now(UTC))


def _messages() -> list[int]:
    """The runs that a dispatcher sends messages for, and one of each Dag whose message comes too late."""
    sent = claims.dispatch(now=datetime.now(UTC), again=timedelta(0))
    first = DagRun.objects.filter(state=DagRun.State.QUEUED).order_by("dag_id", "?").distinct("dag_id")
    return sent + [run.pk for run in first]


def _look_around(run: DagRun) -> None:
    running = DagRun.objects.filter(state=DagRun.State.RUNNING)
    of_dag = running.filter(dag=run.dag_id).count()
    assert of_dag <= run.dag.max_active_runs, f"{of_dag} runs of {run.dag}"
    if run.pool_id:
        taken = sum(running.filter(pool=run.pool_id).values_list("pool_slots", flat=True))
        assert taken <= run.pool.slots, f"{taken} slots taken of {run.pool.slots} in {run.pool}"


def _meet() -> None:
    meeting = Path(os.environ["PARTITA_TEST_MEETING"])
    (meeting / str(os.getpid())).touch()
    while len(list(meeting.iterdir())) < int(os.environ["PARTITA_TEST_CROWD"]):
        time.sleep(0.01)


if __name__ == "__main__":
    _meet()
    {"post": post, "engine": engine, "judge": judge, "work": work}[sys.argv[1]](*sys.argv[2:])
