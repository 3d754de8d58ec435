"""Works out what a backfill would do. Reads only.

1. Each Dag's selection is held against what is on record: what runs, and why the rest does not.
2. A consumer's keys are judged as held runs are: keys that lack upstream data are left out, or the producers
   of exactly the missing keys come first, and theirs before them.
3. If asked for, whatever listens follows, key by key.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from core.models import Dag
from scheduling import listening
from scheduling.algebra.verdicts import Verdict
from scheduling.backfills import graph, scope, standing, upstream
from scheduling.backfills.asking import MOST_KEYS_PER_RUN, Ask, CannotBackfill, Order, Wanted
from scheduling.backfills.graph import DagId, Graph
from scheduling.backfills.plans import Offer, Part, Plan
from scheduling.backfills.scope import Scope

Keys = dict[str, None]


def plan(ask: Ask, *, now: datetime) -> Plan:
    """What `ask` comes to.

    :raises CannotBackfill: if its parts do not fit, or Dags wait for each other in a circle.
    :raises InvalidSelection: if the selection cannot be read or means nothing.
    :raises InvalidKey: for a key that a Dag cannot have.
    :raises NotPartitioned: for a Dag whose runs have no keys.
    :raises BrokenDefinition: for one whose definition cannot be read.
    """
    ask.check()
    draft = _Draft(ask, now, graph.load())
    for dag in ask.dags:
        draft.choose(dag)
    listens = any(draft.graph.hears.get(dag.pk) for dag in ask.dags)
    added = draft.missing_upstream() if listens else {}
    if ask.with_upstream:
        for dag_id, keys in added.items():
            draft.running[dag_id] |= keys
    if ask.with_downstream:
        draft.follow()
    parts = tuple(draft.parts())
    _check_size(ask, parts)
    offers = () if ask.with_upstream else tuple(draft.offers(added))
    return Plan(ask, now, parts, offers)


def _check_size(ask: Ask, parts: Iterable[Part]) -> None:
    for part in parts:
        if ask.keys_per_run is None and part.count > MOST_KEYS_PER_RUN:
            raise CannotBackfill(
                f"one run cannot take {part.count} keys of Dag {part.dag}: {MOST_KEYS_PER_RUN} at most; "
                "say how many keys a run takes"
            )


@dataclass(slots=True)
class _Draft:
    """A plan in the making: the keys that run, and those that do not, by Dag."""

    ask: Ask
    now: datetime
    graph: Graph
    dags: dict[DagId, Dag] = field(default_factory=dict)
    scopes: dict[DagId, Scope] = field(default_factory=dict)
    chosen: dict[DagId, list[str]] = field(default_factory=dict)
    running: dict[DagId, Keys] = field(default_factory=lambda: defaultdict(dict))
    skipped: dict[DagId, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))

    def choose(self, dag: Dag) -> None:
        """What the selection means to a Dag, and which of it runs."""
        self.dags[dag.pk] = dag
        keys = self.scope(dag.pk).select(self.ask)
        known = standing.of_keys(dag, keys)
        if self.ask.wanted is not Wanted.ALL:
            keys = known.wanted(keys, self.ask.wanted)
        self.chosen[dag.pk] = keys
        running = dict.fromkeys(keys)
        skipped = known.skipped(running, self.ask.again)
        self.skipped[dag.pk] |= skipped
        self.running[dag.pk] |= {key: None for key in keys if key not in skipped} if skipped else running

    def missing_upstream(self) -> dict[DagId, Keys]:
        """The keys that producers would have to make first, and theirs before them."""
        added: dict[DagId, Keys] = defaultdict(dict)
        for dag_id in reversed(self.graph.layers(self.graph.upstream(self.running))):
            keys = {**self.running.get(dag_id, {}), **added.get(dag_id, {})}
            if keys and self.graph.hears.get(dag_id):
                for key, verdict in self._judged(dag_id, keys, added).items():
                    if not verdict.may_fire:
                        self._ask_producers(dag_id, key, verdict, added)
        return {dag_id: self._possible(dag_id, keys) for dag_id, keys in added.items()}

    def follow(self) -> None:
        """Whatever listens to what runs runs after it."""
        for dag_id in self.graph.layers(self.graph.downstream(self.running)):
            for listener in sorted(self.graph.after(dag_id)):
                self._follow(dag_id, listener)

    def parts(self) -> Iterable[Part]:
        """The parts of the plan; of a consumer, only keys that will have what they need."""
        for dag_id, layer in self.graph.layers(self._with_keys()).items():
            if self.graph.hears.get(dag_id):
                for key, verdict in self._judged(dag_id, self.running[dag_id], {}).items():
                    if not verdict.may_fire:
                        self.skipped[dag_id][key] = f"its upstream is not complete: {verdict.sentence}"
                        del self.running[dag_id][key]
            yield self._part(dag_id, layer)

    def offers(self, added: dict[DagId, Keys]) -> Iterable[Offer]:
        for dag_id, keys in added.items():
            if keys:
                yield Offer(self.dag(dag_id), tuple(self.scope(dag_id).in_order(keys)))

    def dag(self, dag_id: DagId) -> Dag:
        if dag_id not in self.dags:
            self.dags[dag_id] = Dag.objects.get(pk=dag_id)
        return self.dags[dag_id]

    def scope(self, dag_id: DagId) -> Scope:
        if dag_id not in self.scopes:
            self.scopes[dag_id] = scope.of_dag(self.dag(dag_id), now=self.now)
        return self.scopes[dag_id]

    def _with_keys(self) -> set[DagId]:
        """The Dags that somebody has asked for, and those of which keys are in the plan."""
        return self.chosen.keys() | {
            dag_id for keys in (self.running, self.skipped) for dag_id, found in keys.items() if found
        }

    def _part(self, dag_id: DagId, layer: int) -> Part:
        running, skipped = self.running[dag_id], self.skipped[dag_id]
        order = self.chosen.get(dag_id, [])
        if len(order) != len(running) + len(skipped):
            order = self.scope(dag_id).in_order([*order, *running, *skipped])
        if self.ask.order is Order.NEWEST:
            order = order[::-1]
        return Part(self.dag(dag_id), layer, tuple(order), skipped, frozenset(self._waiting(dag_id)))

    def _waiting(self, dag_id: DagId) -> Iterable[str]:
        """The keys that something in the plan has to come before."""
        before = [other for other in self.graph.before(dag_id) if self.running.get(other)]
        if not before:
            return
        heard = listening.of_dag(self.dag(dag_id))
        for asset_id in heard.leaf_of:
            coming = self._coming_of(asset_id, before)
            mapper = heard.mapper(asset_id)
            for key in self.running[dag_id] if coming else ():
                needed = upstream.needs(mapper, key)
                if needed is None or not coming.isdisjoint(needed):
                    yield key

    def _judged(self, dag_id: DagId, keys: Collection[str], added: dict[DagId, Keys]) -> dict[str, Verdict]:
        """Whether each of `keys` will have what it needs when what runs, and what is `added`, has run."""
        coming = {
            asset_id: self._coming_of(asset_id, self.running) | self._added_of(asset_id, added)
            for asset_id in self.graph.hears[dag_id]
        }
        return upstream.judge(self.dag(dag_id), list(keys), now=self.now, coming=coming)

    def _coming_of(self, asset_id: int, dag_ids: Iterable[DagId]) -> set[str]:
        writers = self.graph.written_by.get(asset_id, set())
        return {key for dag_id in dag_ids if dag_id in writers for key in self.running[dag_id]}

    def _added_of(self, asset_id: int, added: dict[DagId, Keys]) -> set[str]:
        writers = self.graph.written_by.get(asset_id, set())
        return {key for dag_id, keys in added.items() if dag_id in writers for key in keys}

    def _ask_producers(self, dag_id: DagId, key: str, verdict: Verdict, added: dict[DagId, Keys]) -> None:
        """Note who would have to make what a key lacks. What has no one producer stays lacking."""
        heard = listening.of_dag(self.dag(dag_id))
        asset_of = {leaf: asset_id for asset_id, leaf in heard.leaf_of.items()}
        for progress in verdict.progress:
            asset_id = asset_of.get(progress.leaf, 0)
            writers = self.graph.written_by.get(asset_id, set())
            if not progress.satisfied and len(writers) == 1:
                one = progress.required is None
                missing = upstream.needs(heard.mapper(asset_id), key) if one else progress.missing
                added[next(iter(writers))] |= dict.fromkeys(missing or ())

    def _possible(self, dag_id: DagId, keys: Keys) -> Keys:
        """Those of `keys` that the Dag can have and that nothing is at work on."""
        known = standing.of_keys(self.dag(dag_id), list(keys))
        accepted = self.scope(dag_id).accepted(key for key in keys if key not in known.active)
        return dict.fromkeys(accepted)

    def _follow(self, dag_id: DagId, listener: DagId) -> None:
        heard = listening.of_dag(self.dag(listener))
        led = {
            key: None
            for asset_id in self.graph.writes[dag_id] & heard.leaf_of.keys()
            for key in upstream.mapped(heard.mapper(asset_id), self.running[dag_id])
        }
        known = standing.of_keys(self.dag(listener), list(led))
        for key in led:
            if key in known.active:
                self.skipped[listener][key] = f"it is in progress: {known.active[key]}"
            else:
                self.skipped[listener].pop(key, None)
                self.running[listener][key] = None
