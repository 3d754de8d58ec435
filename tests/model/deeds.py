"""What a history may do to engine and model, and to whom: each deed happens to both."""

from datetime import UTC, datetime
from inspect import isfunction

from django.db import transaction
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine

from tests.model import judgement
from tests.model.definitions import HOURS, KEYS, STRANGE
from tests.model.engine import Engine
from tests.model.plans import Ask
from tests.model.records import Consumer, Held
from tests.model.reference import Model

START = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
MOST_ATTEMPTS = 3
AHEAD_OF_TIME = "2026-03-12T00:00:00"


class Deeds(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.transaction = transaction.atomic()
        self.transaction.__enter__()
        self.model, self.engine = Model(START), Engine(START)

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self.transaction.__exit__(None, None, None)

    def _do_one(self, choose, deeds):
        """`deeds` with the arguments of each case; a function among those chooses one itself."""
        possible = {deed: cases for deed, cases in deeds.items() if cases}
        deed = choose(list(possible))
        deed(*(each(choose) if isfunction(each) else each for each in choose(possible[deed])))

    def _route(self, limit, at_once):
        assert self.model.route(limit, at_once) == self.engine.route(limit, at_once)

    def _judge(self, limit):
        assert self.model.judge(limit) == self.engine.judge(limit)

    def _wipe(self, asset, key):
        self._both("wipe", asset, key)

    def _delete(self, event):
        assert self.model.delete(event) == self.engine.delete(event.number)

    def _redefine(self, name, definition):
        was = self.model.consumers[name]
        changed = consumer_of(name, definition, was.writes)
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

    def _trigger(self, name, key, settles):
        done = self.engine.trigger(name, key, settles=settles)
        assert done is bool(self.model.trigger(self.model.consumers[name], key, settles=settles))

    def _backfill(self, ask):
        plan, found = self.model.plan(ask), self.engine.plan(ask)
        assert found == plan
        kept = [key for key in self.model.expected() if key in plan.parts.get("keeper", ())]
        assert list(found.parts.get("keeper", ())) == kept
        may = plan.has("ready")
        assert self.engine.backfill(ask) is may
        if may:
            self.model.start(ask, plan.parts, {name: list(states) for name, states in found.parts.items()})
            self._both("advance")

    def _steer(self, backfill, deed):
        done = self.engine.steer(self.model.backfills.index(backfill), deed)
        assert done is getattr(self.model, f"{deed}_backfill")(backfill)

    def _change_keys(self, deed, keys):
        assert getattr(self.engine, deed)(*keys) == getattr(self.model, deed)(*keys)

    def _set_limit(self, backfill, limit):
        done = self.engine.set_limit(self.model.backfills.index(backfill), limit)
        assert done is backfill.set_limit(limit)

    def _claim(self, run):
        may = run in self._startable()
        assert self.engine.claim(self._place(run)) is may
        if may:
            self.model.claim(run)

    def _dispatch(self):
        """What may start does, and nothing more can; nothing waits for slots that it does not take."""
        for run in [self.model.runs[place] for place in self.engine.dispatch()]:
            assert run in self._startable()
            self._claim(run)
        left = self._startable()
        assert all(map(self.model.is_kept_waiting, left))
        beyond = [run for run in self._runs("queued") if run not in left]
        assert not any(self.engine.claim(self._place(run)) for run in beyond)

    def _limit(self, name, limit):
        self.engine.limit(name, limit)
        self.model.limits[name] = limit

    def _resize_pool(self, slots):
        self.engine.resize_pool(slots)
        self.model.pool = slots

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

    def _mark(self, run, state):
        self.engine.mark(self._place(run), state)
        self.model.mark(run, state)

    def _delete_run(self, run):
        done = self.engine.delete_run(self._place(run))
        assert done is self.model.delete_run(run)

    def _prune(self, age):
        gone = self.engine.prune(age)
        runs = [self.model.runs[place] for place in gone.runs]
        events = [event for event in self.model.events if event.number in gone.events]
        held = [each for each in self.model.held if (each.consumer.name, each.key, each.round) in gone.held]
        self.model.prune(runs, events, held)

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

    def _triggered(self):
        """What has been held, open or not."""
        held = [each for each in self.model.held if not each.consumer.is_plain]
        return list(dict.fromkeys((each.consumer.name, each.key) for each in held))

    def _named(self, name):
        """Keys that a Dag has had, and some."""
        if name == "maker":
            return [*KEYS, *HOURS[3:6]]
        if name == "keeper":
            return [*self.model.expected(), "tw"]
        if name == "ticker":
            return [*HOURS[3:9], AHEAD_OF_TIME, *STRANGE]
        had = {each.key for each in self.model.held if each.consumer.name == name}
        had |= {key for run in self.model.runs if run.consumer.name == name for key in run.keys}
        return sorted(had | {"all", "2026-03-10", "2026-Q1"})

    def _worth_a_backfill(self, names, with_upstream):
        """Any key of the Dags, those more often of which something can run now."""
        named = sorted({key for name in names for key in self._named(name)})
        plans = {key: self.model.plan(Ask(names, (key,), with_upstream=with_upstream)) for key in named}
        runs = [key for key, plan in plans.items() if plan.has("ready")]
        return named + 3 * runs

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
        return self.model.startable()

    def _place(self, run):
        return next(place for place, each in enumerate(self.model.runs) if each is run)


def chooser(data):
    return lambda options: data.draw(st.sampled_from(options))


def consumer_of(name, definition, writes):
    mappers = dict(definition.mappers)
    return Consumer(name, mappers, definition.condition, definition.late, definition.settle, writes)
