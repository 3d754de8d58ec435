"""What saving another schedule of a Dag would do: told before it is done, by reading only."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Generic, TypeVar
from uuid import uuid4

from core.models import Asset, ConsumedEvent, Dag, HeldRun, MappingProblem
from scheduling import listening
from scheduling.algebra import specs
from scheduling.algebra.differences import Difference, differences
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.specs import Spec
from scheduling.algebra.verdicts import Kind
from scheduling.configuration.agreeing import World
from scheduling.configuration.dags import told_by
from scheduling.configuration.foreseeing import Foreseen, foresee
from scheduling.configuration.links import Links
from scheduling.configuration.overriding import canonical, links_for, read_schedule
from scheduling.configuration.problems import Problem, problems_around

MOST_NAMED = 100
"""Of each thing that would happen so many are named; all are counted."""

MOST_FORESEEN = 20_000
"""Events that would be mapped anew, counted ones and refused ones: with more the effect is not worked out."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Some(Generic[T]):
    """How many there are, and the first of them."""

    count: int
    first: tuple[T, ...]

    @property
    def more(self) -> int:
        return self.count - len(self.first)


@dataclass(frozen=True, slots=True)
class Move:
    """What the held run of `key` has counted would count for `to`; `key` may be one of them."""

    key: str
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lost:
    """An upstream key that would count nowhere any more, and why."""

    asset: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What would become of held runs.

    `held` are open now. `moves`: their keys count elsewhere. `opens`: not held now, and would be. `fires`:
    would become runs at once. `closes`: would be superseded, since nothing that came counts for them.
    `ends`: would be cancelled, their deadline having passed. `lost`: upstream keys that would not count any
    more; `regained`: such that could not be mapped, and could be then. `settles`: late rounds that fire at an
    instant if nothing more comes, counted from the last event and not from the change.
    """

    held: int
    moves: Some[Move]
    opens: Some[str]
    fires: Some[str]
    closes: Some[str]
    ends: Some[str]
    lost: Some[Lost]
    regained: Some[str]
    settles: Some[tuple[str, datetime]]

    @property
    def is_nothing(self) -> bool:
        parts = (self.moves, self.opens, self.fires, self.closes, self.ends, self.lost, self.regained)
        return not any(part.count for part in parts)


@dataclass(frozen=True, slots=True)
class Preview:
    """What saving `spec` would do.

    `problems` are those that the Dag would have; `elsewhere` those, by Dag, that others would newly have
    which it feeds. Without `effect` so much is held (`counted` keys) or was not mapped (`refused` events)
    that working it out would take too long.
    """

    spec: Spec
    differences: tuple[Difference, ...]
    problems: tuple[Problem, ...]
    elsewhere: tuple[tuple[str, Problem], ...]
    effect: Effect | None
    counted: int
    refused: int

    @property
    def is_change(self) -> bool:
        return bool(self.differences)


def preview(dag: Dag, spec: object, *, now: datetime, most: int = MOST_NAMED) -> Preview:
    """What `change_schedule` and the judging after it would do, if they came `now`.

    Reads only, and as many queries however much is held; the time grows with the keys that are counted.

    :raises InvalidDefinition: with the JSON path of what is wrong.
    """
    timetable = read_schedule(dag, spec)
    links = links_for(timetable, now)
    heard = listening.by_timetable(timetable, links.wanted.values())
    if heard is None:
        raise InvalidDefinition(f"Dag {dag.dag_id} would listen to nothing")
    supposed = copy(dag)
    supposed.uid = uuid4()  # nothing kept per process is of this Dag
    for name, value in told_by(timetable).items():
        setattr(supposed, name, value)
    now_says = specs.dump(timetable)
    problems, elsewhere = _problems(supposed, links, now)
    held = ConsumedEvent.objects.filter(held_run__dag=dag, held_run__state=HeldRun.State.HELD)
    counted = held.count()
    refused = MappingProblem.objects.filter(dag=dag).count()
    foreseen = foresee(supposed, heard, now=now) if counted + refused <= MOST_FORESEEN else None
    return Preview(
        now_says,
        differences(canonical(dag.schedule), now_says),
        problems,
        elsewhere,
        None if foreseen is None else effect_of(foreseen, most),
        counted,
        refused,
    )


def effect_of(foreseen: Foreseen, most: int = MOST_NAMED) -> Effect:
    """What has been foreseen, counted and put into words."""
    before = {row.partition_key for row in foreseen.before}
    after, verdicts = foreseen.after, foreseen.verdicts
    return Effect(
        held=len(before),
        moves=_some(_moves(foreseen), most),
        opens=_some((key for key in after if key not in before), most),
        fires=_some((key for key, row in after.items() if verdicts[row.pk].may_fire), most),
        closes=_some(sorted(before - after.keys()), most),
        ends=_some((key for key, row in after.items() if verdicts[row.pk].gives_up), most),
        lost=_some(_lost(foreseen), most),
        regained=_some(_regained(foreseen), most),
        settles=_some(_settles(foreseen), most),
    )


def _some(things: Iterable[T], most: int) -> Some[T]:
    listed = list(things)
    return Some(len(listed), tuple(listed[:most]))


def _moves(foreseen: Foreseen) -> Iterator[Move]:
    for row in foreseen.before:
        to = foreseen.moved(row)
        if to and set(to) != {row.partition_key}:
            yield Move(row.partition_key, tuple(to))


def _lost(foreseen: Foreseen) -> Iterator[Lost]:
    """Keys that are counted now and would have a problem, or that nobody would listen to."""
    problems = {each.event.pk: each.sentence for each in foreseen.mapped.problems}
    keys = {each.event.pk: each.key for each in foreseen.mapped.arrivals}
    lost = [event for event in foreseen.counted if event.pk not in foreseen.places]
    names = dict(Asset.objects.filter(pk__in={each.asset_id for each in lost}).values_list("pk", "name"))
    told: dict[tuple[int, str], Lost] = {}
    for event in lost:
        name, key = names[event.asset_id], event.partition_key or ""
        if event.asset_id not in foreseen.listens_to:
            reason = f"the Dag would not listen to {name}"
        elif (event.asset_id, key) in foreseen.gone:
            reason = "it has no data any more"
        elif event.pk in keys:
            reason = f"{keys[event.pk]} has run, and would not count it again"
        else:
            reason = problems.get(event.pk, "it maps to no key")
        told.setdefault((event.asset_id, key), Lost(name, key, reason))
    return iter(told.values())


def _regained(foreseen: Foreseen) -> Iterator[str]:
    events = {each.event.pk: each.event.partition_key or "" for each in foreseen.mapped.arrivals}
    return iter(dict.fromkeys(key for pk, key in events.items() if pk in foreseen.refused))


def _settles(foreseen: Foreseen) -> Iterator[tuple[str, datetime]]:
    for key, row in foreseen.after.items():
        verdict = foreseen.verdicts[row.pk]
        if verdict.kind is Kind.SETTLING and verdict.until:
            yield key, verdict.until


def _problems(
    supposed: Dag, links: Links, now: datetime
) -> tuple[tuple[Problem, ...], tuple[tuple[str, Problem], ...]]:
    """The problems that the Dag would have, and the new ones of others."""
    world = World()
    world.suppose(supposed, links.wanted.values())
    [(_, own), *others] = problems_around(supposed, links.problems, world, now)
    new = [
        (dag.dag_id, problem)
        for dag, shown in others
        for problem in shown
        if asdict(problem) not in dag.problems
    ]
    return tuple(own), tuple(new)
