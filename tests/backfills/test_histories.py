"""Whatever happens to a backfill, in any order: its counts add up, limits hold, and it comes to an end."""

from collections import Counter
from contextlib import suppress

import pytest
from django.db import transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st

from core.models import BackfillPartition, DagRun, Partition
from scheduling import backfills, claims, holds, runs, turns
from scheduling.algebra.errors import PartitionError
from scheduling.runs import Ask as RunAsk
from tests.backfills.play import (
    SECOND,
    begin,
    counts,
    daily,
    days,
    finish,
    listener,
    producer,
    states,
    turn,
)
from tests.chance import examples
from tests.engine.world import ALICE, NOW, emit

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(900)]
KEYS = days(1, 6)
LIMIT = 2

DEEDS = st.one_of(
    st.sampled_from(["advance", "route", "judge", "pause", "resume", "cancel", "retry"]).map(
        lambda name: (name,)
    ),
    st.tuples(st.just("claim")),
    st.tuples(st.just("end"), st.sampled_from(["well", "badly", "silently", "cancelled"])),
    st.tuples(st.just("trigger"), st.sampled_from(KEYS)),
    st.tuples(st.just("emit"), st.sampled_from(KEYS)),
)
SHAPES = st.fixed_dictionaries(
    {
        "with_downstream": st.booleans(),
        "is_chained": st.booleans(),
        "keys_per_run": st.sampled_from([1, 2, None]),
        "order": st.sampled_from(list(backfills.Order)),
    }
)


DOWNSTREAM = {
    "with_downstream": True,
    "is_chained": False,
    "keys_per_run": 1,
    "order": backfills.Order.OLDEST,
}


def there(name):
    """The keys of an asset that have data."""
    parts = Partition.objects.filter(asset__name=name, data_at__isnull=False)
    return set(parts.values_list("key", flat=True))


class History:
    """One backfill of a Dag that writes days and of one that copies them, and what happens to it."""

    def __init__(self, shape):
        daily("days"), daily("copies")
        self.load = producer("load", "days", max_keys_per_run=None)
        listener("copy", "days", "copies")
        self.shape, self.at = shape, NOW
        self.backfill = begin(self.load, keys=tuple(KEYS), max_active_runs=LIMIT, **shape)

    def play(self, deed):
        self.at += SECOND
        name, *what = deed
        with suppress(PartitionError):  # refused in the state it is in
            getattr(self, name)(*what)
        self.check()

    def check(self):
        counts(self.backfill)
        mine = DagRun.objects.filter(backfill=self.backfill)
        assert mine.filter(state="running").count() <= LIMIT
        started = BackfillPartition.objects.started().filter(run__isnull=False).values_list("target", "key")
        assert max(Counter(started).values(), default=0) <= 1
        self.backfill.refresh_from_db()
        assert not self.backfill.completed_at or counts(self.backfill).get("open", 0) == 0

    def advance(self):
        backfills.advance(now=self.at)

    def route(self):
        holds.route_pending(now=self.at, at_once=0)

    def judge(self):
        holds.judge_due(now=self.at)

    def pause(self):
        backfills.pause(self.backfill, deed=ALICE, at=self.at)

    def resume(self):
        backfills.resume(self.backfill, deed=ALICE, at=self.at)

    def cancel(self):
        backfills.cancel(self.backfill, deed=ALICE, at=self.at)

    def retry(self):
        backfills.retry_failed(self.backfill, deed=ALICE, at=self.at)

    def retry_all(self):
        backfills.retry_failed(self.backfill, deed=ALICE, at=self.at, and_cancelled=True)

    def claim(self):
        for pk in turns.dispatch(now=self.at):
            claims.claim(pk, worker="w", now=self.at)

    def end(self, how):
        run = DagRun.objects.filter(state="running").select_related("dag").first()
        if run is None:
            return
        if how == "cancelled":
            runs.cancel(run, deed=ALICE, at=self.at)
            claims.stop(run, at=self.at)
        else:
            finish(run, self.at, run.keys if how == "badly" else (), run.keys if how == "silently" else ())

    def trigger(self, key):
        runs.trigger(self.load, RunAsk(key), deed=ALICE, at=self.at)

    def emit(self, key):
        emit("days", key, at=self.at)

    def to_the_end(self):
        """Everything that was stopped goes on, and every run ends well."""
        for _ in range(200):
            self.at += SECOND
            self.backfill.refresh_from_db()
            if self.backfill.is_paused:
                self.play(("resume",))
            turn(self.at)
            self.claim()
            for _ in DagRun.objects.filter(state="running"):
                self.end("well")
            turn(self.at)
            self.backfill.refresh_from_db()
            if self.backfill.completed_at and not DagRun.objects.filter(state__in=["queued", "running"]):
                return
        raise AssertionError(f"no end: {states(self.backfill)}")


class TestAnyHistory:
    @settings(max_examples=examples(30))
    @given(SHAPES, st.lists(DEEDS, max_size=30))
    def test_adds_up_at_every_moment_and_comes_to_an_end(self, shape, deeds):
        with transaction.atomic():
            history = History(shape)
            for deed in deeds:
                history.play(deed)
            history.to_the_end()
            ended = counts(history.backfill)
            assert ended["planned"] == len(KEYS) * (2 if shape["with_downstream"] else 1)
            assert "open" not in ended
            transaction.set_rollback(True)

    @settings(max_examples=examples(15))
    @given(SHAPES, st.lists(DEEDS, max_size=20))
    @example(DOWNSTREAM, [("advance",), ("claim",), ("end", "silently")])
    @example(DOWNSTREAM, [("advance",), ("claim",), ("end", "silently"), ("emit", KEYS[0])])
    @example(DOWNSTREAM, [("advance",), ("claim",), ("end", "badly"), ("advance",), ("cancel",)])
    def test_ends_with_everything_done_that_can_be_when_it_is_tried_again(self, shape, deeds):
        """All but the copies of days whose runs ended well and wrote nothing: of those there is nothing."""
        with transaction.atomic():
            history = History(shape)
            for deed in deeds:
                history.play(deed)
            for _ in range(3):
                history.to_the_end()
                history.play(("retry_all",))
            history.to_the_end()
            ended = states(history.backfill)
            undone = {name: state for name, state in ended.items() if state not in ("done", "skipped")}
            empty = set(KEYS) - there("days")
            copies = {("copy", key): "blocked" for key in empty} if shape["with_downstream"] else {}
            assert undone == copies
            transaction.set_rollback(True)
