"""Can the keys of a Dag's assets ever meet, and can what it waits for arrive? Asked before any event."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from scheduling.algebra.composites import ChainMapper, ProductMapper
from scheduling.algebra.conditions import All, Expression, Leaf
from scheduling.algebra.conditions import Any as AnyOf
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper, Mapper
from scheduling.algebra.period_keys import PeriodKeys
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.shapes import ANY, Certain, Composite, Periods, Shape, can_meet, narrowed
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import TemporalMapper
from scheduling.algebra.windows import SegmentWindow

Severity = Literal["error", "warning", "unknown"]

# To these one key is as good as another.
_INDIFFERENT = (FixedKeyMapper, AllPartitionsMapper, LatestPartitionMapper)

_ENOUGH = 5
"""Keys that are tried of each asset."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to know about a definition, as a sentence about `assets`.

    An `error` is never, a `warning` is not all, and `unknown` says what could not be told.
    """

    severity: Severity
    sentence: str
    assets: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class Feed:
    """One asset of a Dag: how its keys are mapped, what they look like, and keys that have been seen.

    `most`: downstream keys to which one key may map, where its mapper does not say so itself.
    """

    mapper: Mapper
    upstream: Shape = ANY
    observed: tuple[str, ...] = ()
    most: int | None = None

    @property
    def tried(self) -> tuple[str, ...]:
        """Keys to try: those it will emit, or else those it has."""
        return self.upstream.examples()[:_ENOUGH] or self.observed[-_ENOUGH:]

    @property
    def mapped(self) -> dict[str, tuple[str, ...]]:
        """What keys map to that its mapper reads: those to try, or else one of which its samples are made."""
        made = [self.mapper.upstream_keys(each) or () for each in self.mapper.samples()[:1]]
        tried = self.tried or tuple(key for keys in made for key in keys[:1])
        return {key: self.mapper.to_downstream(key) for key in tried if not _refusal(self.mapper, key)}


def agree(assets: Expression, feeds: Mapping[Leaf, Feed]) -> tuple[Finding, ...]:
    """What can never work in a Dag that waits for `assets`, what will not always, and what is not known.

    Costs some milliseconds: a few keys of each asset are mapped, and what they need is looked at.
    """
    indifferent = _INDIFFERENT if len(feeds) > 1 else (*_INDIFFERENT, IdentityMapper)
    found = [finding for leaf, feed in feeds.items() for finding in _feeding(leaf, feed, indifferent)]
    found += [finding for leaf, feed in feeds.items() for finding in _spilling(leaf, feed, len(feeds) == 1)]
    conflicts: list[Finding] = []
    possible = _possible(assets, feeds, conflicts)
    severity: Severity = "warning" if possible else "error"
    found += [Finding(severity, each.sentence, each.assets) for each in conflicts]
    return tuple(sorted(found, key=lambda each: ("error", "warning", "unknown").index(each.severity)))


def produced_by(mapper: Mapper, upstream: Shape = ANY) -> Shape:
    """The keys that a mapper can make of keys of that shape; what a plug-in makes is not known."""
    if not type(mapper).__module__.startswith(f"{__package__}."):
        return ANY
    if isinstance(mapper, IdentityMapper):
        return upstream
    if isinstance(mapper, AllowedKeyMapper):
        return narrowed(Certain(mapper.allowed_keys), upstream)
    if isinstance(mapper, _INDIFFERENT):
        return Certain((mapper.downstream_key,))
    if isinstance(mapper, ProductMapper):
        return _product(mapper, upstream)
    if isinstance(mapper, ChainMapper):
        for each in mapper.mappers:
            upstream = produced_by(each, upstream)
        return upstream
    return _timed(mapper)


def _timed(mapper: Mapper) -> Shape:
    if isinstance(mapper, TemporalMapper):
        return Periods(mapper.keys)
    if isinstance(mapper, SlidingWindowMapper):
        return Periods(mapper.slide.keys)
    if isinstance(mapper, RollupMapper):
        keys = getattr(mapper.plan, "keys", None)
        return Periods(keys) if isinstance(keys, PeriodKeys) else Certain(mapper.samples())
    if isinstance(mapper, FanOutMapper):
        segments = isinstance(mapper.window, SegmentWindow)
        return Certain(mapper.samples()) if segments else produced_by(mapper.plan.downstream)
    return ANY


def _product(mapper: ProductMapper, upstream: Shape) -> Shape:
    parts: tuple[Shape, ...] = (ANY,) * len(mapper.mappers)
    if isinstance(upstream, Composite) and len(upstream.parts) == len(parts):
        parts = upstream.parts
    made = tuple(produced_by(each, part) for each, part in zip(mapper.mappers, parts, strict=True))
    return Composite(made, mapper.delimiter)


def _feeding(leaf: Leaf, feed: Feed, indifferent: tuple[type[Mapper], ...]) -> Iterator[Finding]:
    """Whether the mapper reads the asset's keys, and whether the asset emits what the mapper needs."""
    name = leaf.words()
    if not feed.tried:
        if not isinstance(feed.mapper, indifferent):
            sentence = f"what the keys of {name} look like is not known before the first one"
            yield Finding("unknown", sentence, (leaf,))
        return
    refusals = [refusal for key in feed.tried if (refusal := _refusal(feed.mapper, key))]
    if refusals:
        every = len(refusals) == len(feed.tried)
        sentence = f"{name} emits keys that {type(feed.mapper).__name__} cannot read: {refusals[0]}"
        yield Finding("error" if every else "warning", sentence, (leaf,))
    if feed.mapper.is_rollup and not feed.mapper.needs_known and feed.upstream is not ANY:
        yield from _arriving(leaf, feed)


def _spilling(leaf: Leaf, feed: Feed, is_alone: bool) -> Iterator[Finding]:
    """Whether keys map to so many that none of them opens a held run."""
    most, mapped = feed.mapper.max_downstream_keys or feed.most, feed.mapped
    over = {key: len(set(keys)) for key, keys in mapped.items() if most and len(set(keys)) > most}
    for key, count in list(over.items())[:1]:
        sentence = (
            f"{key} of {leaf.words()} maps to {count} downstream keys, over the limit of {most}: none is "
            f"queued; give {type(feed.mapper).__name__} max_downstream_keys={count}, or let keys map to fewer"
        )
        yield Finding("error" if is_alone and len(over) == len(mapped) else "warning", sentence, (leaf,))


def _arriving(leaf: Leaf, feed: Feed) -> Iterator[Finding]:
    """Whether enough of the keys that a downstream key needs are keys that the asset emits."""
    for key in feed.tried:
        for downstream in () if _refusal(feed.mapper, key) else feed.mapper.to_downstream(key)[:1]:
            lacking = _lacking(feed, downstream)
            if lacking:
                emits = feed.upstream.words()
                sentence = f"{downstream} needs {lacking} of {leaf.words()}, which never emits it but {emits}"
                yield Finding("error", sentence, (leaf,))
                return


def _lacking(feed: Feed, downstream: str) -> str | None:
    """A key that the asset never emits, if `downstream` cannot start without such keys."""
    required = feed.mapper.required(downstream) or ()
    never = [each for each in required if _emitted(feed, each) is False]
    policy = feed.mapper.wait_policy
    if policy is None or not never or policy.satisfied(len(required) - len(never), len(required)):
        return None
    return never[0]


def _emitted(feed: Feed, key: str) -> bool | None:
    """Whether the asset emits a key that counts as `key`."""
    answer = feed.upstream.takes(key)
    if answer is not False:
        return answer
    near = feed.upstream.near(key)
    return near is not None and feed.mapper.counts_as(near) == key


def _possible(
    assets: Expression, feeds: Mapping[Leaf, Feed], conflicts: list[Finding]
) -> list[tuple[Shape, Leaf]]:
    """The shapes of keys for which an expression can be true, each with an asset that it comes from.

    What can never be true together is added to `conflicts`.
    """
    if isinstance(assets, AnyOf):
        return [each for part in assets.parts for each in _possible(part, feeds, conflicts)]
    if not isinstance(assets, All):
        return [(produced_by(feeds[leaf].mapper, feeds[leaf].upstream), leaf) for leaf in assets.leaves()]
    first, *others = assets.parts
    shapes = _possible(first, feeds, conflicts)
    for part in others:
        theirs = _possible(part, feeds, conflicts)
        met = [
            (narrowed(mine[0], other[0]), other if mine[0] is ANY else mine)
            for mine in shapes
            for other in theirs
            if can_meet(mine[0], other[0]) is not False
        ]
        if shapes and theirs and not met:
            conflicts.append(_conflict(shapes[0], theirs[0]))
        shapes = [(shape, leaf) for shape, (_, leaf) in met]
    return shapes


def _conflict(mine: tuple[Shape, Leaf], theirs: tuple[Shape, Leaf]) -> Finding:
    (left, here), (right, there) = mine, theirs
    sentence = (
        f"{left.example()} can never equal {right.example()}: {here.words()} gives {left.words()}, "
        f"{there.words()} gives {right.words()}"
    )
    return Finding("error", sentence, (here, there))


def _refusal(mapper: Mapper, key: str) -> str:
    try:
        mapper.to_downstream(key)
    except PartitionError as error:
        return str(error)
    return ""
