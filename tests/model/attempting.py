"""Histories of one asset that two Dags write, of few keys: attempts overlap and go off the record."""

from datetime import timedelta

from scheduling.algebra.conditions import AssetLeaf
from tests.model.history import SECOND, History
from tests.model.plans import Ask
from tests.model.records import ONCE, Attempts, Consumer

WRITERS = ("maker", "other")
KEYS = ("k", "l")
CLOSED = ("success", "failed", "cancelled")
TWICE = Attempts(retries=1, delay=timedelta(0))


class AttemptHistory(History):
    """Nobody listens to the asset: whatever happens is about how its partitions are."""

    def define(self, choose):
        attempts = choose([ONCE, ONCE, TWICE])
        for name in WRITERS:
            self.model.consumers[name] = Consumer(name, {}, AssetLeaf(""), writes=("out",), attempts=attempts)
            self.engine.make(name, ("out",), attempts)

    def step(self, choose):
        queued, running = self._startable(), self._runs("running")
        ends = [(run, how) for run in running for how in ("succeed", "fail", "fail", "fail")]
        deeds = {
            self._queue: [(name, key) for name in WRITERS for key in KEYS],
            self._queue_range: [(name,) for name in WRITERS],
            self._attempt: [(run, how) for run in queued for how in ("succeed", "fail", "fail")],
            self._claim: [(run,) for run in queued],
            self._end: [*ends, *((run, "give_up") for run in running if run.range)],
            self._lose: [(run,) for run in running],
            self._cancel: [(run,) for run in running],
            self._retry: [(run,) for run in self._runs(*CLOSED)],
            self._mark: [(run, state) for run in self.model.runs for state in ("success", "failed")],
            self._delete_run: [(run,) for run in self.model.runs],
            self._forget_keys: [(run,) for run in self.model.runs if run.keys],
            self._wipe: [("out", key) for key in self.model.partitions["out"]],
            self._record: [(key,) for key in KEYS],
            self._delete: [(event,) for event in self.model.events],
        }
        often = [self._attempt, self._attempt, self._queue, self._delete_run, self._delete_run]
        weighed = [deed for deed in (*deeds, *often) if deeds[deed]]
        self._do_one(choose, {deed: deeds[deed] for deed in [choose(weighed)]})

    def _queue(self, name, key):
        assert self.engine.trigger(name, key, settles=True)
        assert self.model.trigger(self.model.consumers[name], key, settles=True)

    def _queue_range(self, name):
        self._backfill(Ask((name,), KEYS, size=None))

    def _attempt(self, run, how):
        self._claim(run)
        self._tell(self.model.now + SECOND)
        self._end(run, how)

    def _cancel(self, run):
        self._ask_to_stop(run)
        self._stop(run)

    def _forget_keys(self, run):
        self.engine.forget_keys(self._place(run))
        self.model.forget_keys(run)

    def _record(self, key):
        self._both("record", "out", key)
