"""May a held run fire? A second opinion: section 6 of the semantics, written without looking at the first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.policies import Deadline, MinimumCount, Outcome
from tests.model.records import Consumer, Held, Late

if TYPE_CHECKING:
    from tests.model.filing import Filing


@dataclass
class Verdict:
    kind: str
    until: datetime | None = None
    gives_up: bool = False


@dataclass
class Standing:
    """How one asset stands: is what it gives enough, is it without what fired before, can it ever be?"""

    is_enough: bool = False
    is_anew: bool = False
    is_readable: bool = True
    is_possible: bool = True
    has_given_up: bool = False


Fits = Callable[[Standing], bool]


def of(held: Held, model: Filing) -> Verdict:
    consumer = held.consumer
    is_late = bool(model.fired((consumer.name, held.key)))
    standings = {asset: _standing(held, asset, model) for asset in consumer.mappers}

    def could(fits: Fits) -> bool:
        return consumer.holds({asset: fits(each) for asset, each in standings.items()})

    is_restart = is_late and consumer.late is Late.RESTART and not consumer.is_plain

    def has_come(each: Standing) -> bool:
        return each.is_anew if is_restart else each.is_enough

    if not could(has_come):
        return _held_back(held, standings, has_come, model)
    if consumer.is_paused:
        return Verdict("paused")
    if not is_late or is_restart or consumer.is_plain:
        return Verdict("ready")
    return _late(held, could(lambda each: each.is_anew), model.now)


def is_complete(held: Held, model: Filing) -> bool:
    """Whether everything is there that a first run of this key needs, paused or not."""
    if not held.consumer.mappers:
        return True
    standings = {asset: _standing(held, asset, model) for asset in held.consumer.mappers}
    return held.consumer.holds({asset: each.is_enough for asset, each in standings.items()})


def lacking(held: Held, model: Filing) -> list[str]:
    """The assets of which a first run of this key has not enough; none if it is complete all the same."""
    standings = {asset: _standing(held, asset, model) for asset in held.consumer.mappers}
    return [asset for asset, each in standings.items() if not each.is_enough and not is_complete(held, model)]


def enumerable(mapper: Mapper, downstream: str, known: Sequence[str]) -> set[str]:
    """The upstream keys of a downstream key, where they can be listed."""
    if mapper.needs_known:
        return set(known)
    try:
        return set(mapper.upstream_keys(downstream) or ())
    except PartitionError:
        return set()


def feeds(mapper: Mapper, key: str, downstream: str) -> bool:
    try:
        return downstream in mapper.to_downstream(key)
    except PartitionError:
        return False


def takes(consumer: Consumer, downstream: str) -> bool:
    """Whether runs of the consumer can have that key: it can be dated, and what it needs can be told."""
    if not consumer.mappers:
        return consumer.timetable is None or _answers(lambda: consumer.timetable.resolve(downstream))
    asked = [lambda mapper: mapper.partition_date(downstream), lambda mapper: mapper.required(downstream)]
    return all(
        consumer.holds({asset: _answers(partial(ask, mapper)) for asset, mapper in consumer.mappers.items()})
        for ask in asked
    )


def date_of(consumer: Consumer, downstream: str) -> datetime | None:
    """The one partition date that the mappers see in a key, or the timetable."""
    if consumer.timetable:
        return consumer.timetable.resolve(downstream)
    dates = set()
    for mapper in consumer.mappers.values():
        try:
            dates.add(mapper.partition_date(downstream))
        except PartitionError:
            continue
    dates.discard(None)
    return dates.pop() if len(dates) == 1 else None


def _answers(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except PartitionError:
        return False
    return True


def _held_back(held: Held, standings: dict[str, Standing], has_come: Fits, model: Filing) -> Verdict:
    """Not complete: is that for good, or worth waiting for?"""
    consumer, now = held.consumer, model.now

    def could(fits: Fits) -> bool:
        return consumer.holds({asset: fits(each) for asset, each in standings.items()})

    def may_come(each: Standing) -> bool:
        return has_come(each) or not each.has_given_up

    readable = could(lambda each: each.is_readable)
    if not could(may_come) or (readable and not could(lambda each: each.is_readable and may_come(each))):
        return Verdict("unreachable", gives_up=True)
    ends = [held.opened_at + each.after for each in map(_deadline, consumer.mappers.values()) if each]
    until = min((end for end in ends if end > now), default=None)
    if not readable:
        return Verdict("broken", until)
    if not could(lambda each: each.is_readable and each.is_possible):
        return Verdict("unreachable", until)
    able = {asset: _can_come(held, asset, each, model) for asset, each in standings.items()}
    return Verdict("waiting" if consumer.holds(able) else "unreachable", until)


def _can_come(held: Held, asset: str, standing: Standing, model: Filing) -> bool:
    """Whether it is enough when every key has come that the asset is to have, and every deadline gone."""
    mapper = held.consumer.mappers[asset]
    if not (standing.is_readable and standing.is_possible):
        return False
    if standing.is_enough or held.consumer.is_plain or asset not in model.listed:
        return True
    keys = {key for key in model.listed[asset] if feeds(mapper, key, held.key)}
    required = mapper.required(held.key, model.known(asset))
    if required is None:  # of a key that the mapper never makes, no list says more
        return bool(keys) or not _answers(partial(mapper.representative, held.key))
    keys |= {key for other, key in held.counted if other == asset}
    then = deadline.then if (deadline := _deadline(mapper)) else mapper.wait_policy
    needed = 0 if then is Outcome.FIRE else _needed(then, len(required))
    return len({mapper.counts_as(key) for key in keys} & set(required)) >= needed


def _late(held: Held, is_anew: bool, now: datetime) -> Verdict:
    consumer = held.consumer
    if consumer.late in (Late.HOLD, Late.MARK_STALE):
        return Verdict("waiting")
    until = held.last_at + consumer.settle
    if consumer.late is Late.IMMEDIATE or consumer.needs_one_key or is_anew or now >= until:
        return Verdict("ready")
    return Verdict("settling", until)


def _standing(held: Held, asset: str, model: Filing) -> Standing:
    mapper, name = held.consumer.mappers[asset], (held.consumer.name, held.key)
    if held.consumer.is_plain:
        has = any(other == asset for other, _ in held.counted)
        return Standing(has, has)
    if model.is_present(asset):
        return Standing(True, True)
    counted = {key: event for (other, key), event in held.counted.items() if other == asset}
    anew = {key for key, event in counted.items() if not model.was_consumed(event, name)}
    deadline = _deadline(mapper)
    is_over = deadline is not None and model.now >= held.opened_at + deadline.after
    then = deadline.then if deadline and is_over else None
    standing = Standing(has_given_up=then is Outcome.CANCEL)
    try:
        required = mapper.required(held.key, model.known(asset))
    except PartitionError:
        standing.is_readable = False
        return standing
    if required is None:
        return Standing(bool(counted), bool(anew))
    here = len({mapper.counts_as(key) for key in counted} & set(required))
    fresh = len({mapper.counts_as(key) for key in anew} & set(required))
    needed = 0 if then is Outcome.FIRE else _needed(then or mapper.wait_policy, len(required))
    standing.is_possible = needed <= len(required)
    standing.is_enough = standing.is_possible and here >= needed
    standing.is_anew = standing.is_possible and fresh >= needed
    return standing


def _deadline(mapper: Mapper) -> Deadline | None:
    return mapper.wait_policy if isinstance(mapper.wait_policy, Deadline) else None


def _needed(policy: object, required: int) -> int:
    """n > 0: at least n; n < 0: at most -n missing; otherwise all."""
    if isinstance(policy, MinimumCount):
        return policy.n if policy.n > 0 else max(0, required + policy.n)
    return required
