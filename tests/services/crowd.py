"""Processes that crowd around one database.

`python -m tests.services.crowd COMMANDS`, which are a JSON list of `["post", ASSET, KEY, ...]`, `["engine"]`,
`["judge"]` and `["work"]`: a process for each, forked once all modules are loaded. They begin together.
"""

import json
import multiprocessing
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from multiprocessing.synchronize import Barrier

import django

django.setup()

from core.models import Asset, AssetEvent, DagRun, HeldRun  # noqa: E402
from scheduling import claims, events, holds, turns  # noqa: E402
from scheduling.events import EventReport  # noqa: E402
from scheduling.journal import Deed  # noqa: E402

FORK = multiprocessing.get_context("fork")
posting = FORK.Value("i", 0)
"""How many have not posted all yet: engines go on as long as there are any."""


def post(name: str, *keys: str) -> None:
    """Report each key in a transaction of its own."""
    asset, deed = Asset.objects.get(name=name), Deed(by=f"process {os.getpid()}", via="api")
    try:
        for key in keys:
            events.register_events(
                [EventReport(asset, key)], source=AssetEvent.Source.API, deed=deed, at=datetime.now(UTC)
            )
    finally:
        with posting.get_lock():
            posting.value -= 1


def engine() -> None:
    """Map and judge in small portions, so that many meet, until all is posted and nothing left to do."""
    while posting.value or _left_to_do():
        now = datetime.now(UTC)
        if not holds.route_pending(now=now, limit=7) + holds.judge_due(now=now, limit=3):
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
    sent = turns.dispatch(now=datetime.now(UTC), again=timedelta(0))
    first = DagRun.objects.filter(state=DagRun.State.QUEUED).order_by("dag_id", "?").distinct("dag_id")
    return sent + [run.pk for run in first]


def _look_around(run: DagRun) -> None:
    running = DagRun.objects.filter(state=DagRun.State.RUNNING)
    of_dag = running.filter(dag=run.dag_id).count()
    assert of_dag <= run.dag.max_active_runs, f"{of_dag} runs of {run.dag}"
    if run.pool_id:
        taken = sum(running.filter(pool=run.pool_id).values_list("pool_slots", flat=True))
        assert taken <= run.pool.slots, f"{taken} slots taken of {run.pool.slots} in {run.pool}"


def _left_to_do() -> bool:
    return (
        AssetEvent.objects.filter(routed_at=None).exists() or HeldRun.objects.due(datetime.now(UTC)).exists()
    )


def _together(commands: list[list[str]]) -> list[int]:
    """The exit codes of processes that were begun for `commands`, and have waited for each other."""
    barrier = FORK.Barrier(len(commands))
    posting.value = sum(name == "post" for name, *_ in commands)
    crowd = [FORK.Process(target=_begin, args=(barrier, *command)) for command in commands]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    return [each.exitcode for each in crowd]


def _begin(barrier: Barrier, name: str, *arguments: str) -> None:
    barrier.wait()
    {"post": post, "engine": engine, "judge": judge, "work": work}[name](*arguments)


if __name__ == "__main__":
    sys.exit(any(_together(json.loads(sys.argv[1]))))
