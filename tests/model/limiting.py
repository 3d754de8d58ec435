"""Histories of Dags that crowd a small pool, and of some outside it: limits are met at nearly every step."""

from scheduling.algebra.conditions import AssetLeaf
from tests.model.history import CLOSED, LIMITED, History
from tests.model.limits import Limit
from tests.model.plans import Ask
from tests.model.records import ONCE, Consumer

CROWD = {"one": Limit(2, 1), "two": Limit(2, 2), "three": Limit(3, 1), "free": Limit(3), "alone": Limit(1)}
KEYS = tuple("klmnop")
BACKFILLED = (("one",), ("free",), ("two", "free"))


class LimitHistory(History):
    """Nobody listens: runs are triggered, or of backfills of one Dag or two."""

    def define(self, choose):
        for name, limit in CROWD.items():
            self.model.consumers[name] = Consumer(name, {}, AssetLeaf(""), writes=(name,))
            self.engine.make(name, (name,), ONCE)
            self._limit(name, limit)
        self._resize_pool(2)

    def step(self, choose):
        deeds = {
            self._queue: [(name, key) for name in CROWD for key in KEYS],
            self._backfill: [(Ask(names, KEYS, limit=limit),) for names in BACKFILLED for limit in (1, 2, 3)],
            self._dispatch: [()],
            self._claim: [(run,) for run in self._runs("queued")],
            self._end: [(run, how) for run in self._runs("running") for how in ("succeed", "fail")],
            self._lose: [(run,) for run in self._runs("running")],
            self._retry: [(run,) for run in self._runs(*CLOSED)],
            self._pause_or_unpause: [(name,) for name in CROWD],
            self._limit: [(name, limit) for name in CROWD for limit in LIMITED],
            self._resize_pool: [(slots,) for slots in range(5)],
            self._set_limit: [(each, limit) for each in self.model.backfills for limit in (1, 2, 3)],
            self._advance: [()],
        }
        often = [self._queue, self._queue, self._dispatch, self._dispatch, self._end, self._end]
        weighed = [deed for deed in (*deeds, *often) if deeds[deed]]
        self._do_one(choose, {deed: deeds[deed] for deed in [choose(weighed)]})

    def _queue(self, name, key):
        assert self.engine.trigger(name, key, settles=True)
        assert self.model.trigger(self.model.consumers[name], key, settles=True)

    def _advance(self):
        self._both("advance")
