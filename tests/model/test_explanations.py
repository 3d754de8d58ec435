"""An explanation is true: the facts that it names let the run fire, and none of them could be left out.

`PARTITA_EXPLANATIONS` asks for more examples; `PARTITA_MODEL_SHRINK=0` shows the first that fails
as it was found.
"""

import contextlib
import os
from collections import defaultdict
from datetime import timedelta

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st

from core.models import DagRun, HeldRun
from scheduling.algebra.errors import PartitionError
from scheduling.explain import Explanation, Standing, explain
from tests.chance import examples
from tests.model.deeds import START
from tests.model.definitions import ASSETS, HOURS, KEYS, LISTED, MONTHS, REGIONS, definitions
from tests.model.engine import Engine

pytestmark = pytest.mark.django_db

EXAMPLES = int(os.environ.get("PARTITA_EXPLANATIONS", examples(60)))
PHASES = [Phase.generate] if os.environ.get("PARTITA_MODEL_SHRINK") == "0" else [Phase.generate, Phase.shrink]
PATIENCE = timedelta(seconds=60)
"""For one example: as many worlds as there are facts are tried in it, a second on a quiet machine."""

GROUPS = [(key,) for key in KEYS] + [HOURS, HOURS[1:], HOURS[:3], REGIONS, REGIONS[1:], MONTHS]


class World:
    """One consumer and what has come before it was defined and since, all of it counted and judged.

    `listed`: the asset c is to have these keys and no others, if there are any.
    """

    def __init__(self, definition, before, since, *, ends=False, listed=()):
        self.engine = Engine(START)
        if listed:
            self.engine.list_keys("c", *listed)
        for asset, keys in before:
            self.engine.record(asset, *keys)
        self.turn()
        self.engine.listen("first", definition, ("out",))
        for asset, keys in since:
            self.engine.record(asset, *keys)
            self.engine.now += timedelta(seconds=1)
            self.turn()
            if ends:
                self.end_runs()

    def turn(self):
        while self.engine.route(1000) or self.engine.judge(1000):
            pass

    def end_runs(self):
        """Every run ends well: only then is a later round what stands for its key."""
        for place, run in enumerate(DagRun.objects.order_by("pk")):
            if run.state == DagRun.State.QUEUED and self.engine.claim(place):
                self.engine.succeed(place, ("out",))
        self.turn()

    def explain(self, key) -> Explanation:
        return explain(self.engine.dag("first"), key, now=self.engine.now)

    def fires_after(self, key, facts) -> bool:
        """Whether a run of `key` comes about when just these facts come; nothing of it stays."""
        with transaction.atomic():
            came = defaultdict(list)
            for fact in facts:
                came[fact.asset.name].append(fact.key or "any key at all")
            for name, keys in came.items():
                self.engine.record(name, *keys)
            self.turn()
            fired = DagRun.objects.filter(dag__dag_id="first", partition_key=key, state="queued").exists()
            transaction.set_rollback(True)
        return fired

    def fires_after_everything(self, key) -> bool:
        """Whether a run of `key` comes about when all keys come of every asset."""
        with transaction.atomic():
            for name in ASSETS:
                self.engine.record(name, *dict.fromkeys([*KEYS, *HOURS, key]))
            self.turn()
            fired = DagRun.objects.filter(dag__dag_id="first", partition_key=key).exists()
            transaction.set_rollback(True)
        return fired


arrivals = st.lists(st.tuples(st.sampled_from(ASSETS[:3]), st.sampled_from(GROUPS)), max_size=4)


def keys_of(definition):
    """Keys that the definition makes of some, and one that it may not make."""
    made = {"2026-03-11"}
    for mapper in definition.mappers.values():
        for key in KEYS:
            with contextlib.suppress(PartitionError):
                made.update(mapper.to_downstream(key)[:2])
    return sorted(made)


def is_to_come(mapper, fact, listed):
    """Whether a key of the list is the one that the fact names, or counts as it."""
    return any(fact.key in (key, mapper.counts_as(key)) for key in listed)


@pytest.mark.timeout(600)
@settings(max_examples=EXAMPLES, deadline=PATIENCE, suppress_health_check=list(HealthCheck), phases=PHASES)
@given(definition=definitions(), before=arrivals, since=arrivals, anew=st.booleans(), data=st.data())
def test_the_facts_named_fire_the_run_and_none_is_too_many(definition, before, since, anew, data):
    """Of an asset whose keys are listed, those that are not are named only where no other will do."""
    with transaction.atomic():
        if anew:  # everything has come, and some comes again: later rounds
            names = st.sampled_from(list(definition.mappers))
            again = data.draw(st.lists(st.tuples(names, st.sampled_from(GROUPS)), min_size=1, max_size=2))
            since = [*((name, (*KEYS, *HOURS)) for name in definition.mappers), *again]
        listed = data.draw(st.lists(st.sampled_from(LISTED), max_size=5, unique=True))
        world = World(definition, before, since, ends=anew, listed=listed)
        later = HeldRun.objects.held().filter(dag__dag_id="first", round__gt=1)
        keys = sorted(later.values_list("partition_key", flat=True)) or keys_of(definition)
        key = data.draw(st.sampled_from(keys))
        found = world.explain(key)
        event(f"{found.standing}, {min(len(found.facts), 3)} facts")
        if found.held:
            event(f"{'later' if found.held.round > 1 else 'first'} round, late {definition.late}")
        strange = [fact for fact in found.facts if fact.expected.is_never]
        is_first = not found.held or found.held.round == 1  # in others, each key is one that came before
        named = [fact for fact in found.facts if listed and is_first and fact.asset.name == "c"]
        assert strange == [fact for fact in named if not is_to_come(definition.mappers["c"], fact, listed)]
        if strange:
            event("a key that is not to come")
            assert not found.fires
        elif found.fires:
            assert found.facts, found
            assert world.fires_after(key, found.facts), found
            for left_out in found.facts:
                others = [fact for fact in found.facts if fact is not left_out]
                assert not world.fires_after(key, others), (left_out, found)
            places = st.sampled_from(range(len(found.facts)))
            few = data.draw(st.sets(places, max_size=len(found.facts) - 1))
            assert not world.fires_after(key, [found.facts[place] for place in sorted(few)]), (few, found)
        elif found.standing is Standing.NEVER:
            assert not world.fires_after_everything(key), found
        elif found.standing in (Standing.HELD, Standing.AWAITED):
            assert not world.fires_after(key, found.facts), found
        transaction.set_rollback(True)


@settings(max_examples=examples(60), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    definition=definitions(), before=arrivals, since=arrivals, key=st.sampled_from(KEYS), paused=st.booleans()
)
def test_a_pause_and_a_limit_are_told_and_change_no_fact(definition, before, since, key, paused):
    with transaction.atomic():
        world = World(definition, before, since)
        free = world.explain(key)
        if paused:
            world.engine.pause("first", True)
        else:
            dag = world.engine.dag("first")
            dag.max_active_runs = 0
            dag.save()
        bound = world.explain(key)
        assert [fact.key for fact in bound.facts] == [fact.key for fact in free.facts]
        if free.standing in (Standing.HELD, Standing.AWAITED):
            assert bound.standing == free.standing
            assert [each.kind for each in bound.hindrances] == (["paused"] if paused else ["max_active_runs"])
            if free.fires:
                assert bound.fires is not paused
                assert "when the pause ends" in bound.outcome or "waits for a slot" in bound.outcome
        transaction.set_rollback(True)
