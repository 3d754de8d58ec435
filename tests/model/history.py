"""Histories that engine and model live through together: a step happens to both, and then they must agree."""

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from tests.model.comparing import apart, shown, told
from tests.model.deeds import chooser
from tests.model.definitions import (
    ASSETS,
    DYNAMIC,
    HOURS,
    KEYS,
    LISTED,
    MONTHS,
    REGIONS,
    definition,
    some,
)
from tests.model.limits import Limit
from tests.model.plans import Ask
from tests.model.setting import HOURLY, Setting

SECOND = timedelta(seconds=1)
MINUTES = (1, 4, 10, 55, 120, 60 * 9)
LIMITS = (1, 2, 100)
SIZES = (1, 1, 2, None)
DEFINED = ("first", "second")
KEEPER = ("keeper",)
BACKFILLED = (("first",), ("second",), ("next",), ("maker",), ("maker",), ("ticker",), KEEPER, KEEPER)
SEVERAL = (("maker", "first"), ("first", "next"), ("maker", "first", "second", "next"))
PAUSABLE = (*DEFINED, "next", "plain", "ticker", "maker", "keeper")
LIMITED = tuple(Limit(active, slots) for active in (1, 2, 3) for slots in (0, 1, 2))
CLOSED = ("success", "failed", "cancelled")
STEERED = ("pause", "resume", "cancel", "retry")


class History(Setting):
    """Nothing happens by itself: `route`, `judge` and `tick` make the engine do a portion of its work.

    The model does as much. A second passes after each step.
    """

    @initialize(data=st.data())
    def begin(self, data):
        self.define(chooser(data))

    @rule(data=st.data())
    def live(self, data):
        """There is but one rule: hypothesis would leave some of several out of a whole history."""
        self.step(chooser(data))

    def step(self, choose):
        possible = [name for name, (weight, may) in STEPS.items() if may(self) for _ in range(weight)]
        getattr(self, choose(possible))(choose)

    # Events

    def record(self, choose):
        keys = [choose(KEYS) for _ in range(choose([1, 2, 3]))]
        self._both("record", choose(ASSETS), *keys)

    def record_many(self, choose):
        group = choose([HOURS, HOURS[1:], REGIONS, MONTHS])
        self._both("record", choose(ASSETS), *group)

    def record_what_is_lacking(self, choose):
        """What a held run waits for comes: one key of it, or all there are."""
        asset, keys = choose(self._lacking())
        self._both("record", asset, *(keys if choose([True, False]) else keys[:1]))

    def record_anew(self, choose):
        """A key that a run has consumed comes again."""
        event = choose(self._consumed())
        self._both("record", event.asset, event.key)

    def record_without_key(self, choose):
        self._both("record", choose(ASSETS), None)

    # Time, and what the engine does

    def time_passes(self, choose):
        self._tell(self.model.now + timedelta(minutes=choose(MINUTES)))

    def route(self, choose):
        self._route(choose(LIMITS), choose([0, 1, 1000]))

    def judge(self, choose):
        self._judge(choose(LIMITS))

    def do_everything(self, choose):
        self._tell(self.model.now + choose([timedelta(0), timedelta(minutes=10)]))
        self._route(1000, 1000)
        self._judge(1000)
        self._both("advance")

    def advance_backfills(self, choose):
        self._both("advance")

    def tick(self, choose):
        self.model.tick(self.ticker, HOURLY, self.catchup)
        self.engine.tick()

    def attempts_end(self, choose):
        """Those that have taken too long, that is."""
        self._tell(self.model.now + choose([timedelta(seconds=10), timedelta(minutes=10)]))
        self._both("end_overdue")

    def execute(self, choose):
        run = choose(self._startable())
        self._claim(run)
        self._tell(self.model.now + SECOND)
        self._end(run, choose(["succeed", "succeed", "fail"]))

    # People, and what goes wrong

    def a_person_intervenes(self, choose):
        deeds = {
            self._wipe: [(asset, key) for asset in ASSETS for key in self.model.partitions[asset]],
            self._delete: [(event,) for event in self.model.events],
            self._pause_or_unpause: [(name,) for name in PAUSABLE],
            self._fire_now: [(held,) for held in self.model.open()],
            self._cancel_held: [(held,) for held in self.model.open()],
            self._trigger: [(*name, settles) for name in self._triggered() for settles in (True, False)],
            self._redefine: [(name, definition) for name in DEFINED],
        }
        self._do_one(choose, deeds)

    def a_person_backfills(self, choose):
        deeds = {
            self._backfill: [(_ask(self, names),) for names in (*BACKFILLED, *SEVERAL)],
            self._steer: [(each, deed) for each in self.model.backfills for deed in STEERED],
            self._set_limit: [(each, limit) for each in self.model.backfills for limit in (1, 2, 3)],
        }
        self._do_one(choose, deeds)

    def keys_come_and_go(self, choose):
        there = self.model.expected()
        deed = choose(["add_keys", "remove_keys"] if there else ["add_keys"])
        self._change_keys(deed, some(choose, [*there, "tw"] if deed == "remove_keys" else DYNAMIC, 4))

    def keys_are_listed(self, choose):
        self._both("list_keys", "c", *some(choose, LISTED, 6))

    def dispatch(self, choose):
        self._dispatch()

    def limits_change(self, choose):
        deeds = {
            self._limit: [(name, limit) for name in PAUSABLE for limit in LIMITED],
            self._resize_pool: [(slots,) for slots in range(5)],
        }
        self._do_one(choose, deeds)

    def a_run_goes_its_own_way(self, choose):
        running = [(run,) for run in self._runs("running")]
        deeds = {
            self._claim: [(run,) for run in self._runs("queued")],
            self._end: [
                (run, how)
                for (run,) in running
                for how in ("succeed", "fail", *(["give_up"] if run.range else ()))
            ],
            self._lose: running,
            self._ask_to_stop: [(run,) for run in self._runs("queued", "running")],
            self._stop: [(run,) for (run,) in running if run.cancel_requested],
            self._retry: [(run,) for run in self._runs(*CLOSED)],
            self._mark: [(run, state) for run in self.model.runs for state in ("success", "failed")],
            self._delete_run: [(run,) for run in self.model.runs],
        }
        self._do_one(choose, deeds)

    def old_records_go(self, choose):
        self._prune(choose([timedelta(minutes=10), timedelta(hours=1)]))

    @invariant()
    def they_agree(self):
        model, engine = self.model, self.engine
        assert engine.unrouted() == {event.number for event in model.events if not event.is_routed}
        assert engine.problems() == model.problems
        assert engine.dynamic() == [(each.key, each.is_there) for each in model.dynamic]
        held = {(each.consumer.name, each.key): self._said(each) for each in model.open()}
        assert apart(engine.open(), held) == {}
        assert apart(dict(enumerate(engine.runs())), dict(enumerate(map(told, model.runs)))) == {}
        partitions = {
            (asset, key): (part.state, part.data is not None, part.stale_since is not None)
            for asset, parts in model.partitions.items()
            for key, part in parts.items()
        }
        assert apart(engine.partitions(), partitions) == {}
        assert apart(engine.backfills(), dict(enumerate(map(shown, model.backfills)))) == {}
        self._tell(model.now + SECOND)


STEPS = {
    "record": (3, bool),
    "record_many": (2, bool),
    "record_what_is_lacking": (3, lambda history: history._lacking()),
    "record_anew": (2, lambda history: history._consumed()),
    "record_without_key": (1, bool),
    "time_passes": (1, bool),
    "route": (3, bool),
    "judge": (2, bool),
    "do_everything": (4, bool),
    "advance_backfills": (1, lambda history: history.model.backfills),
    "tick": (1, bool),
    "attempts_end": (1, lambda history: history._runs("running")),
    "execute": (5, lambda history: history._startable()),
    "a_person_intervenes": (4, bool),
    "a_person_backfills": (3, bool),
    "dispatch": (3, lambda history: history._runs("queued")),
    "limits_change": (1, bool),
    "keys_come_and_go": (2, bool),
    "keys_are_listed": (1, lambda history: history.model.listed),
    "old_records_go": (1, bool),
    "a_run_goes_its_own_way": (4, lambda history: history.model.runs),
}
"""How often each comes, and when it is possible at all."""


def _ask(history, names):
    """One key or some of those Dags, in some manner."""

    def asked(choose):
        with_upstream = choose([True, False])
        every = names == KEEPER and choose([True, False])
        return Ask(
            names,
            None if every else tuple(some(choose, history._worth_a_backfill(names, with_upstream), 4)),
            choose(SIZES),
            choose([1, 2, 3]),
            is_newest_first=choose([True, False]),
            is_chained=choose([True, False, False]),
            with_upstream=with_upstream,
            with_downstream=choose([True, False]),
        )

    return asked
