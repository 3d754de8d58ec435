"""Everything at once, from processes around one PostgreSQL: what turns an engine and what meddles with it.

`python -m tests.services.turmoil` writes the definitions and starts the backfills, and then forks a process
for each of `CROWD`. Reports go on for a while; as long as they do, people pause, change a definition, cancel,
steer backfills and take old records away. What they meddled with is put right at the end, and the engine is
turned until nothing is left to do.
"""

import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import django

django.setup()

from django.db import connections  # noqa: E402

from core.models import Asset, AssetEvent, Dag, DagRun  # noqa: E402
from scheduling import backfills, claims, events, holds, retries, turns  # noqa: E402
from scheduling.backfills import Ask  # noqa: E402
from scheduling.claims import LeaseLost, Output  # noqa: E402
from scheduling.events import EventReport  # noqa: E402
from scheduling.journal import Deed  # noqa: E402
from tests.engine import world  # noqa: E402
from tests.engine.world import ALICE, IDENTITY, RUNTIME  # noqa: E402
from tests.services.meddling import (  # noqa: E402
    BY_DAY,
    FORK,
    PEOPLE,
    is_going_on,
    meddling,
    now,
    one_less,
    posting,
    watch,
)
from tests.services.turmoil_keys import HOURS, KEYS, MADE, OFTEN, TAKEN_BACK  # noqa: E402

SEVERAL = {"max_active_runs": 3, "max_attempts": 50, "retries": 5, "retry_delay": timedelta(0)}


def define() -> None:
    world.consumer("pair", {"a": IDENTITY, "b": IDENTITY}, writes=["pairs"])
    world.consumer("after", {"pairs": IDENTITY}, writes=["ends"])
    world.consumer("days", BY_DAY)
    world.asset("gate")
    world.consumer("often", {"again": IDENTITY})
    world.consumer("fed", {"made": IDENTITY})
    maker = world.dag("maker", RUNTIME, writes=["made"])
    Dag.objects.update(**SEVERAL)
    for keys in (MADE, TAKEN_BACK):
        backfills.start(Ask((maker,), keys=tuple(keys), max_active_runs=2), deed=ALICE, at=now())


# What turns the engine


def turn() -> None:
    """Map, judge and advance in small portions, so that many meet, and take over from workers that died."""
    while is_going_on():
        done = holds.route_pending(now=now(), limit=7) + holds.judge_due(now=now(), limit=3)
        done += backfills.advance(now=now()) + claims.take_over_lost(now=now())
        if not done:
            time.sleep(0.01)


def work() -> None:
    """Execute; some attempts fail, and some workers are never heard of again."""
    dice = random.Random(os.getpid())
    while is_going_on():
        pks = turns.dispatch(now=now(), again=timedelta(0))
        dice.shuffle(pks)  # messages are heard in any order
        for pk in pks:
            if run := claims.claim(pk, worker=f"process {os.getpid()}", now=now()):
                _execute(run, dice.random())
        if not pks:
            time.sleep(0.01)


# What happens to it


def report_pairs() -> None:
    """Each key of the one asset and of the other, a request each."""
    with one_less(posting):
        for key in KEYS:
            _report("a", key)
            _report("b", key)


def report_hours() -> None:
    with one_less(posting):
        shuffled = random.Random(7).sample(HOURS, len(HOURS))
        for at in range(0, len(shuffled), 3):
            _report("hours", *shuffled[at : at + 3])


def report_often() -> None:
    """The same few keys time and again: what was made of them before is soon old."""
    with one_less(posting):
        for _ in range(12):
            for key in OFTEN:
                _report("again", key)


REPORTS: list[Callable[[], None]] = [report_pairs, report_hours, report_often]
CROWD = [turn, turn, turn, work, work, watch, *REPORTS, *PEOPLE]


def _report(name: str, *keys: str) -> None:
    reports = [EventReport(Asset.objects.get(name=name), key) for key in keys]
    deed = Deed(by=f"process {os.getpid()}", via="api")
    events.register_events(reports, source=AssetEvent.Source.API, deed=deed, at=now())


def _execute(run: DagRun, luck: float) -> None:
    if luck < 0.03:
        return  # it is never heard of again, until its lease has run out
    time.sleep(luck / 20)
    with suppress(LeaseLost):
        if not claims.renew(run, now=now()):
            claims.stop(run, at=now())
        elif luck < 0.1 and run.failures < 3:
            retries.fail(run, "no luck", at=now())
        else:
            written = Asset.objects.filter(outlets__dag=run.dag_id)
            claims.succeed(run, [Output(each) for each in written], at=now())


def _together() -> dict[str, int]:
    """The exit code of each process, which have waited for each other."""
    barrier = FORK.Barrier(len(CROWD))
    posting.value = len(REPORTS)
    meddling.value = len(PEOPLE)
    crowd = [
        FORK.Process(target=_begin, args=(barrier, each), name=f"{number} {each.__name__}")
        for number, each in enumerate(CROWD)
    ]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    return {each.name: each.exitcode for each in crowd}


def _begin(barrier, act: Callable[[], None]) -> None:
    barrier.wait()
    act()


if __name__ == "__main__":
    define()
    connections.close_all()
    ended = _together()
    sys.exit(f"these failed: {failed}" if (failed := [name for name, code in ended.items() if code]) else 0)
