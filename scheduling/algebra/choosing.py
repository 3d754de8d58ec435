"""Which keys a typed selection means, in a definition or among keys that have been seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import KeyFormat, split_segments
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.periods import Grain, next_start
from scheduling.algebra.phrases import some
from scheduling.algebra.selections import Everything, InvalidSelection, One, Part, Span, Term, parse, spelled
from scheduling.algebra.subsets import Subset
from scheduling.algebra.time_partitions import TimePartitions

# How an end of a range may name a time, whatever the keys look like.
_DATES = tuple(
    KeyFormat(text)
    for text in ("%Y-%m-%d", "%Y-%m", "%Y", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H")
)

_LAST = datetime.max.replace(tzinfo=UTC)


def select(
    text: str, definition: Partitions, now: datetime | None = None, *, end_exclusive: bool = False
) -> Subset:
    """The numbers of the keys that a selection means.

    Both ends of a range are included, unless `end_exclusive` leaves out the last. In time an end may be
    coarser or finer than the keys: `[2026-03-01...2026-03-02]` of hours is 48 of them.

    :raises InvalidSelection: for a text that cannot be read, a key that there is none of, and a range without
        any, naming the character and the keys close by.
    """
    delimiter = definition.delimiter if isinstance(definition, MultiPartitions) else None
    chooser = _Chooser(text, now, end_exclusive)
    return Subset.union(chooser.term(definition, term) for term in parse(text, delimiter))


def select_among(text: str, keys: Sequence[str], delimiter: str | None = None) -> Subset:
    """The places in `keys` of those that a selection means, where nothing but the keys is known.

    Ends of ranges are compared as text; an end includes what begins with it.

    :raises InvalidSelection: for a text that cannot be read, and for a key that is not there.
    """
    chosen = Subset()
    for term in parse(text, delimiter):
        found = Subset.of(place for place, key in enumerate(keys) if _fits(key, term, delimiter))
        if not found:
            raise InvalidSelection("none of the known keys is meant", text, term[0].position)
        chosen |= found
    return chosen


@dataclass(frozen=True, slots=True)
class _Chooser:
    text: str
    now: datetime | None
    end_exclusive: bool

    def term(self, definition: Partitions, term: Term) -> Subset:
        if len(term) == 1 and isinstance(term[0], Everything):
            return Subset.span(0, definition.count(self.now))
        if not isinstance(definition, MultiPartitions):
            return self.part(definition, term[0])
        if len(term) != len(definition.by_name):
            names = definition.delimiter.join(definition.dimensions)
            example = self.completed(definition, term) or definition.example()
            expected = f"expected {names}, such as {example}"
            raise self.wrong(f"{expected}, and not {some(len(term), 'segment')}", term[0])
        slowest, *faster = definition.by_speed()
        chosen = self.part(definition.by_name[slowest][1], term[slowest])
        for place in faster:
            each = definition.by_name[place][1]
            chosen = _crossed(chosen, self.part(each, term[place]), each.count(self.now))
        return chosen

    def completed(self, definition: MultiPartitions, term: Term) -> str:
        """The one segment that was typed where it means something, * for every other; empty if nowhere."""
        if len(term) != 1:
            return ""
        typed, stars = spelled(term[0], definition.delimiter), ["*"] * len(definition.by_name)
        for place, (_, each) in enumerate(definition.by_name):
            try:
                self.part(each, term[0])
            except InvalidSelection:
                continue
            return definition.delimiter.join([*stars[:place], typed, *stars[place + 1 :]])
        return ""

    def part(self, definition: Partitions, part: Part) -> Subset:
        if isinstance(part, Everything):
            return Subset.span(0, definition.count(self.now))
        if isinstance(part, One):
            number = self.number(definition, part)
            return Subset.span(number, number + 1)
        if isinstance(definition, TimePartitions):
            return self.time_span(definition, part)
        first = 0 if part.first is None else self.number(definition, part.first)
        last = definition.count(self.now) - 1 if part.last is None else self.number(definition, part.last)
        if first > last:
            raise self.wrong("the range starts after its end", part)
        return Subset.span(first, last + (part.last is None or not self.end_exclusive))

    def time_span(self, definition: TimePartitions, part: Span) -> Subset:
        until = definition.until(self.now)
        begin = definition.start if part.first is None else self.moment(definition, part.first)[0]
        stop = until
        if part.last is not None:
            start, end = self.moment(definition, part.last)
            if end <= begin:
                raise self.wrong("the range starts after its end", part)
            stop = min(start if self.end_exclusive else end, until)
        low, high = definition.number_at(min(begin, until)), definition.number_at(stop)
        if low >= high:
            near = " and ".join(definition.nearest(begin, self.now))
            raise self.wrong("the range has no partition" + (f"; the nearest: {near}" if near else ""), part)
        return Subset.span(low, high)

    def moment(self, definition: TimePartitions, end: One) -> tuple[datetime, datetime]:
        """The start and the end of the time that an end of a range names."""
        refusal = ""
        for form in (definition.format, *_DATES):
            try:
                start = form.parse(end.key, definition.zone)
            except InvalidKey as error:
                refusal = refusal or str(error)
            else:
                return start, _end_of(form.grain, start, definition.zone)
        raise self.wrong(refusal, end)

    def number(self, definition: Partitions, one: One) -> int:
        try:
            return definition.index(one.key, self.now)
        except InvalidKey as refusal:
            raise self.wrong(f"{refusal}{self.period(definition, one)}", one) from None

    def period(self, definition: Partitions, one: One) -> str:
        """How all keys of a period are written, if it is one that was typed."""
        span = Span(one, one, one.position)
        try:
            if isinstance(definition, TimePartitions) and self.time_span(definition, span):
                return f"; all keys of that period are {spelled(span)}"
        except InvalidSelection:
            pass
        return ""

    def wrong(self, message: str, at: Part) -> InvalidSelection:
        return InvalidSelection(message, self.text, at.position)


def _end_of(grain: Grain, start: datetime, zone: ZoneInfo) -> datetime:
    """When a period ends; the last one of the calendar ends with that."""
    try:
        return next_start(grain, start, zone)
    except OverflowError:
        return _LAST


def _crossed(slow: Subset, fast: Subset, size: int) -> Subset:
    """Every number of the one with every number of the other, which counts `size` times as fast."""
    if fast.ranges == ((0, size),):
        return Subset(tuple((start * size, stop * size) for start, stop in slow.ranges))
    return Subset.union(
        Subset(tuple((number * size + start, number * size + stop) for start, stop in fast.ranges))
        for number in slow
    )


def _fits(key: str, term: Term, delimiter: str | None) -> bool:
    if len(term) == 1 and isinstance(term[0], Everything):
        return True
    segments = split_segments(key, delimiter) if delimiter else (key,)
    if len(segments) != len(term):
        return False
    return all(_means(part, segment) for part, segment in zip(term, segments, strict=True))


def _means(part: Part, segment: str) -> bool:
    if isinstance(part, One):
        return segment == part.key
    if isinstance(part, Everything):
        return True
    after = part.first is None or segment >= part.first.key
    return after and (part.last is None or segment <= part.last.key or segment.startswith(part.last.key))
