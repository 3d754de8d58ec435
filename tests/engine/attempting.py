"""Attempts at one partition, which end in whatever way and order."""

from core.models import DagRun, Partition
from scheduling import claims, corrections, runs, states
from scheduling.runs import Ask
from tests.engine.world import ALICE, MINUTE, NOW, RUNTIME, asset, dag, emit, finish, start


def state():
    """(has data, how the latest attempt ended) of that partition."""
    row = Partition.objects.filter(asset__name="out", key="k").first()
    return (row.data_at is not None, row.attempt) if row else (False, "")


class Attempts:
    """Attempts at partition `k` of `out`, a minute between what happens."""

    def __init__(self):
        self.dag = dag("ingest", RUNTIME, writes=["out"], max_attempts=2)
        self.now = NOW

    def queue(self, made=None):
        self.now += MINUTE
        return runs.trigger(made or self.dag, Ask("k"), deed=ALICE, at=self.now)

    def start(self, run=None, made=None):
        run = run or self.queue(made)
        self.now += MINUTE
        return start(run, at=self.now)

    def ok(self, run=None):
        run = run or self.start()
        self.now += MINUTE
        finish(run, "out", at=self.now)
        return run

    def failed(self, run=None):
        run = run or self.start()
        self.now += MINUTE
        claims.fail(run, "boom", at=self.now)
        return run

    def cancelled(self, run=None):
        run = run or self.start()
        self.now += MINUTE
        claims.stop(run, at=self.now)
        return run

    def running(self):
        return self.start()

    def wiped(self):
        states.take_data(asset("out"), ["k"], self.now)

    def emitted(self):
        self.now += MINUTE
        emit("out", "k", at=self.now)

    def retried(self, run):
        self.now += MINUTE
        return self.start(corrections.retry(DagRun.objects.get(pk=run.pk), deed=ALICE, at=self.now))

    def marked(self, run, state):
        self.now += MINUTE
        corrections.mark(DagRun.objects.get(pk=run.pk), DagRun.State(state), deed=ALICE, at=self.now)

    def deleted(self, *given):
        for run in given:
            corrections.delete(DagRun.objects.get(pk=run.pk), deed=ALICE, at=self.now)

    def lost(self, run):
        DagRun.objects.filter(pk=run.pk).update(lease_until=NOW - MINUTE)
        claims.take_over_lost(now=self.now)
