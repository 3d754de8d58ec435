"""Histories that engine and model live through together: a step happens to both, and then they must agree."""

from collections import Counter
from datetime import UTC, datetime, timedelta

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from scheduling.algebra.conditions import All, AssetLeaf
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.timetables import CronPartitionTimetable
from tests.model import backfilling, judgement
from tests.model.definitions import ASSETS, HOURS, KEYS, MONTHS, REGIONS, Definition, definitions
from tests.model.engine import Engine
from tests.model.records import ONCE, Attempts, Consumer, Held, Late, Run
from tests.model.reference import Model

START = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
SECOND = timedelta(seconds=1)
HOURLY = CronPartitionTimetable("0 * * * *")
SPANS = st.sampled_from([1, 4, 10, 55, 120, 60 * 9]).map(lambda minutes: timedelta(minutes=minutes))
LIMITS = st.sampled_from([1, 2, 100])
ATTEMPTS = (
    ONCE,
    Attempts(retries=1, timeout=timedelta(minutes=10)),
    Attempts(retries=2, delay=timedelta(minutes=4), backoff=2.0, timeout=timedelta(minutes=4)),
    Attempts(retries=2, delay=timedelta(0)),
)
MOST_ATTEMPTS = 3
MOST_ACTIVE = 2
DEFINED = ("first", "second")
PAUSABLE = (*DEFINED, "next", "plain", "ticker")
CLOSED = ("success", "failed", "cancelled")


class History(RuleBasedStateMachine):
    """Five Dags: two random ones, one after the first, one that knows no keys, one that ticks.

    Nothing happens by itself: `route`, `judge` and `tick` make the engine do a portion of its work, and the
    model as much. A second passes after each step.
    """

    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.model, self.engine = Model(START), Engine(START)

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    @initialize(
        first=definitions(),
        second=definitions(),
        accepts=st.booleans(),
        catchup=st.sampled_from(["all", "last", "none"]),
        attempts=st.sampled_from(ATTEMPTS),
    )
    def define(self, first, second, accepts, catchup, attempts):
        after = Definition({"out": IdentityMapper()}, All, Late.SETTLE, timedelta(minutes=10))
        for name, definition, writes in [
            ("first", first, "out"),
            ("second", second, ""),
            ("next", after, "far"),
        ]:
            self.model.consumers[name] = _consumer(name, definition, (writes,) if writes else ())
            self.model.consumers[name].attempts = attempts
            self.engine.listen(name, definition, (writes,) if writes else (), attempts)
        plain = Consumer(
            "plain", {"c": IdentityMapper()}, AssetLeaf("c"), is_plain=True, counts_keyed=accepts
        )
        self.model.consumers["plain"] = plain
        self.engine.listen_plainly("plain", "c", accept=accepts)
        self.ticker = Consumer("ticker", {}, AssetLeaf(""), writes=("ticks",))
        self.model.consumers["ticker"] = self.ticker
        self.model.ticked_until["ticker"] = START
        self.engine.tick_with("ticker", HOURLY, catchup, "ticks")
        self.catchup = catchup

    # Events

    @rule(asset=st.sampled_from(ASSETS), keys=st.lists(st.sampled_from(KEYS), min_size=1, max_size=3))
    def record(self, asset, keys):
        self._both("record", asset, *keys)

    @rule(asset=st.sampled_from(ASSETS), group=st.sampled_from([HOURS, HOURS[1:], REGIONS, MONTHS]))
    def record_many(self, asset, group):
        self._both("record", asset, *group)

    @rule(data=st.data(), everything=st.booleans())
    @precondition(lambda self: self._lacking())
    def record_what_is_lacking(self, data, everything):
        """What a held run waits for comes: one key of it, or all there are."""
        asset, keys = data.draw(st.sampled_from(self._lacking()))
        self._both("record", asset, *(keys if everything else keys[:1]))

    @rule(data=st.data())
    @precondition(lambda self: self._consumed())
    def record_anew(self, data):
        """A key that a run has consumed comes again."""
        event = data.draw(st.sampled_from(self._consumed()))
        self._both("record", event.asset, event.key)

    @rule(asset=st.sampled_from(ASSETS))
    def record_without_key(self, asset):
        self._both("record", asset, None)

    # Time, and what the engine does

    @rule(span=SPANS)
    def time_passes(self, span):
        self._tell(self.model.now + span)

    @rule(limit=LIMITS, at_once=st.sampled_from([0, 1, 1000]))
    def route(self, limit, at_once):
        assert self.model.route(limit, at_once) == self.engine.route(limit, at_once)

    @rule(limit=LIMITS)
    def judge(self, limit):
        assert self.model.judge(limit) == self.engine.judge(limit)

    @rule(span=st.sampled_from([timedelta(0), timedelta(minutes=10)]))
    def do_everything(self, span):
        self._tell(self.model.now + span)
        self.route(1000, 1000)
        self.judge(1000)

    @rule()
    def tick(self):
        self.model.tick(self.ticker, HOURLY, self.catchup)
        self.engine.tick()

    @rule(span=st.sampled_from([timedelta(seconds=10), timedelta(minutes=10)]))
    @precondition(lambda self: self._runs("running"))
    def attempts_end(self, span):
        """Those that have taken too long, that is."""
        self._tell(self.model.now + span)
        self._both("end_overdue")

    @rule(data=st.data(), well=st.booleans())
    @precondition(lambda self: self._startable())
    def execute(self, data, well):
        run = data.draw(st.sampled_from(self._startable()))
        self._claim(run)
        self._tell(self.model.now + SECOND)
        self._end(run, "succeed" if well else "fail")

    # People, and what goes wrong

    @rule(data=st.data())
    def a_person_intervenes(self, data):
        deeds = {
            self._wipe: [(asset, key) for asset in ASSETS for key in self.model.partitions[asset]],
            self._delete: [(event,) for event in self.model.events],
            self._pause_or_unpause: [(name,) for name in PAUSABLE],
            self._fire_now: [(held,) for held in self.model.open()],
            self._cancel_held: [(held,) for held in self.model.open()],
            self._trigger: [(held, settles) for held in self._keyed() for settles in (True, False)],
            self._backfill: [(name, key) for name in (*DEFINED, "next") for key in self._named(name)],
            self._redefine: [(name, definitions()) for name in DEFINED],
        }
        self._do_one(data, deeds)

    @rule(data=st.data())
    @precondition(lambda self: self.model.runs)
    def a_run_goes_its_own_way(self, data):
        running = [(run,) for run in self._runs("running")]
        deeds = {
            self._claim: [(run,) for run in self._runs("queued")],
            self._end: [(run, how) for (run,) in running for how in ("succeed", "fail")],
            self._lose: running,
            self._ask_to_stop: [(run,) for run in self._runs("queued", "running")],
            self._stop: [(run,) for (run,) in running if run.cancel_requested],
            self._retry: [(run,) for run in self._runs(*CLOSED)],
        }
        self._do_one(data, deeds)

    @invariant()
    def they_agree(self):
        model, engine = self.model, self.engine
        assert engine.unrouted() == {event.number for event in model.events if not event.is_routed}
        assert engine.problems() == model.problems
        held = {(each.consumer.name, each.key): self._said(each) for each in model.open()}
        assert _apart(engine.open(), held) == {}
        assert _apart(dict(enumerate(engine.runs())), dict(enumerate(map(_told, model.runs)))) == {}
        partitions = {
            (asset, key): (part.state, part.data is not None, part.stale_since is not None)
            for asset, parts in model.partitions.items()
            for key, part in parts.items()
        }
        assert _apart(engine.partitions(), partitions) == {}
        self._tell(model.now + SECOND)

    def _do_one(self, data, deeds):
        possible = {deed: cases for deed, cases in deeds.items() if cases}
        deed = data.draw(st.sampled_from(list(possible)))
        case = data.draw(st.sampled_from(possible[deed]))
        deed(*(data.draw(each) if isinstance(each, st.SearchStrategy) else each for each in case))

    def _wipe(self, asset, key):
        self._both("wipe", asset, key)

    def _delete(self, event):
        assert self.model.delete(event) == self.engine.delete(event.number)

    def _redefine(self, name, definition):
        was = self.model.consumers[name]
        changed = _consumer(name, definition, was.writes)
        changed.is_paused, changed.attempts = was.is_paused, was.attempts
        self.model.redefine(changed)
        self.engine.redefine(name, definition)

    def _pause_or_unpause(self, name):
        consumer = self.model.consumers[name]
        self.engine.pause(name, not consumer.is_paused)
        self.model.pause(consumer, not consumer.is_paused)

    def _fire_now(self, held):
        self.engine.fire_now(held.consumer.name, held.key)
        self.model.fire(held)

    def _cancel_held(self, held):
        self.engine.cancel_held(held.consumer.name, held.key)
        self.model.cancel(held)

    def _trigger(self, held, settles):
        done = self.engine.trigger(held.consumer.name, held.key, settles=settles)
        assert done is bool(self.model.trigger(held.consumer, held.key, settles=settles))

    def _backfill(self, name, key):
        done = self.engine.backfill(name, key)
        assert done is bool(backfilling.start(self.model, self.model.consumers[name], key))

    def _claim(self, run):
        may = run in self._startable()
        assert self.engine.claim(self._place(run)) is may
        if may:
            self.model.claim(run)

    def _end(self, run, how):
        getattr(self.engine, how)(self._place(run), run.consumer.writes)
        getattr(self.model, how)(run)

    def _lose(self, run):
        self.engine.lose(self._place(run))
        self.model.lose(run, MOST_ATTEMPTS)

    def _ask_to_stop(self, run):
        self.engine.ask_to_stop(self._place(run))
        if run.state == "queued":
            self.model.stop(run)
        else:
            run.cancel_requested = True

    def _stop(self, run):
        self.engine.stop(self._place(run))
        self.model.stop(run)

    def _retry(self, run):
        self.engine.retry(self._place(run))
        self.model.retry(run)

    def _both(self, name, *arguments):
        getattr(self.engine, name)(*arguments)
        getattr(self.model, name)(*arguments)

    def _tell(self, now):
        self.model.now = self.engine.now = now

    def _said(self, held: Held):
        name = (held.consumer.name, held.key)
        fresh = {place: not self.model.was_consumed(event, name) for place, event in held.counted.items()}
        return {
            "round": held.round,
            "verdict": held.verdict,
            "judged at": held.judge_at,
            "received": fresh,
            "events": {event.number for event in held.events},
        }

    def _keyed(self):
        return [each for each in self.model.open() if not each.consumer.is_plain]

    def _named(self, name):
        """Keys that a Dag has had, and some."""
        had = {each.key for each in (*self.model.held, *self.model.runs) if each.consumer.name == name}
        return sorted(had | {"all", "2026-03-10", "2026-Q1"})

    def _lacking(self):
        """(asset, keys) that open held runs wait for."""
        lacking = []
        for held in self._keyed():
            for asset, mapper in held.consumer.mappers.items():
                keys = judgement.enumerable(mapper, held.key, ())
                if missing := sorted(keys - {key for other, key in held.counted if other == asset}):
                    lacking.append((asset, missing))
        return lacking

    def _consumed(self):
        """Events with a key that a held run has fired with, newest first."""
        events = {e for held in self.model.held if held.state == "fired" for e in held.events if e.key}
        return sorted(events, key=lambda event: -event.number)

    def _runs(self, *states):
        return [run for run in self.model.runs if run.state in states]

    def _startable(self):
        active = Counter(run.consumer.name for run in self._runs("running"))
        return [
            run
            for run in self._runs("queued")
            if active[run.consumer.name] < MOST_ACTIVE
            and not self.model.consumers[run.consumer.name].is_paused
            and (run.run_after is None or run.run_after <= self.model.now)
        ]

    def _place(self, run):
        return next(place for place, each in enumerate(self.model.runs) if each is run)


def _apart(engine, model):
    """What engine and model say where they differ, by name."""
    apart = {}
    for name in engine.keys() | model.keys():
        ours, theirs = engine.get(name), model.get(name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if inner := _apart(ours, theirs):
                apart[name] = inner
        elif ours != theirs:
            apart[name] = {"engine": ours, "model": theirs}
    return apart


def _told(run: Run):
    consumed = frozenset(event.number for event in run.consumed)
    return (run.consumer.name, run.key, run.run_type, run.state, run.attempt, run.failures, consumed)


def _consumer(name, definition, writes):
    mappers = dict(definition.mappers)
    return Consumer(name, mappers, definition.condition, definition.late, definition.settle, writes)
