"""Sliding windows: a downstream period needs the upstream periods around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache

from scheduling.algebra.errors import InvalidDefinition, InvalidKey, within
from scheduling.algebra.keys import KeyFormat
from scheduling.algebra.mappers import Mapper, check_policy
from scheduling.algebra.memory import KeyMapping, downstream_mapping, required_mapping
from scheduling.algebra.period_keys import (
    PeriodKeys,
    default_output,
    repeated_names,
    skipped_time,
    tells_apart,
)
from scheduling.algebra.periods import (
    Grain,
    WeekStart,
    floor_wall,
    grain_of,
    instant_of,
    instants_of,
    next_start,
    previous_start,
    start_of,
    week_starting,
    zone,
)
from scheduling.algebra.policies import WaitForAll, WaitPolicy
from scheduling.algebra.temporal import DEFAULT_INPUT

_MOST_MEMBERS = 10_000


@dataclass(frozen=True, slots=True)
class SlidingWindowMapper(Mapper):
    """Downstream period D needs the `before` upstream periods before it, D itself, and `after` after it.

    Any time within an upstream period counts as that period. Periods that clocks skip are not counted.

    :param member: the period that one downstream key names.
    :param before: how many periods before it are needed.
    :param after: how many after it.
    :param timezone: on whose clocks a time without an offset is read.
    :param input_format: how an upstream key writes a time.
    :param output_format: how the downstream key writes the start of its period; none: as is usual for it.
    :param wait_policy: how many of the periods must have arrived.
    """

    member: Grain = Grain.DAY
    before: int = 7
    after: int = 0
    timezone: str = "UTC"
    input_format: str = DEFAULT_INPUT
    output_format: str | None = None
    week_start: WeekStart = "monday"
    wait_policy: WaitPolicy = field(default_factory=WaitForAll)
    slide: Slide = field(init=False, repr=False, compare=False)
    _down: KeyMapping = field(init=False, repr=False, compare=False)
    _required: KeyMapping = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        grain = within("member", grain_of, self.member)
        for name in ("before", "after"):
            within(name, _count, getattr(self, name))
        within("wait_policy", check_policy, self.wait_policy)
        week_start = within("week_start", week_starting, self.week_start)
        found = within("timezone", zone, self.timezone)
        default = default_output(grain, week_start)
        output = within("output_format", KeyFormat, self.output_format or default)
        read = within("input_format", KeyFormat, self.input_format)
        for name, form in (("output_format", output), ("input_format", read)):
            if not tells_apart(form.grain, grain, week_start):
                raise InvalidDefinition(f"{form.text!r} gives several {grain.value}s one name", path=name)
        slide = Slide(read, PeriodKeys(grain, found, output, week_start), self.before, self.after)
        down, required = _mappings(slide)
        for name, value in (
            ("_down", down),
            ("_required", required),
            ("member", grain),
            ("timezone", found.key),
            ("output_format", None if output.text == default else output.text),
            ("slide", slide),
        ):
            object.__setattr__(self, name, value)
        if self.wait_policy.unreachable(self.before + 1 + self.after):
            raise InvalidDefinition(
                f"{self.wait_policy.sentence()} can never be met: there are {self.before + 1 + self.after}",
                path="wait_policy",
            )

    @property
    def is_rollup(self) -> bool:
        return True

    @property
    def member_noun(self) -> str:
        return f"{self.member.value}s"

    def to_downstream(self, key: str) -> tuple[str, ...]:
        return self._down(key)

    def required(self, downstream_key: str, known: Sequence[str] = ()) -> tuple[str, ...]:
        return self._required(downstream_key)

    def counts_as(self, key: str) -> str:
        return self.slide.counts_as(key)

    def never_was(self, key: str) -> str:
        form, zone = self.slide.input, self.slide.keys.zone
        return skipped_time(form, zone, key) if form.grain.is_subday else ""

    def partition_date(self, downstream_key: str) -> datetime:
        return self.slide.keys.date_of(downstream_key)

    def samples(self) -> tuple[str, ...]:
        return self.slide.keys.samples()

    def warnings(self, now: datetime | None = None) -> tuple[str, ...]:
        return repeated_names(self.slide.input, self.slide.keys.zone, now)


@dataclass(frozen=True, slots=True)
class Slide:
    """The arithmetic of a sliding window, in both directions."""

    input: KeyFormat
    keys: PeriodKeys
    before: int
    after: int

    def downstream_of(self, key: str) -> list[str]:
        wall = self.input.read(key, self.keys.zone)
        self.keys.key_of(wall)  # a skipped period is a mapping problem
        starts = self._around(wall, self.input.has_offset, self.after, self.before)
        return list(dict.fromkeys(self.keys.key_of(self._shown(start)) for start in starts))

    def required_by(self, downstream_key: str) -> list[str]:
        wall = self.keys.start_of(downstream_key)
        starts = self._around(wall, self.keys.output.has_offset, self.before, self.after)
        return [self.input.spell(self._label(start), self.keys.zone) for start in starts]

    def counts_as(self, key: str) -> str:
        try:
            wall = self.input.read(key, self.keys.zone)
        except InvalidKey:
            return key
        return self.input.spell(floor_wall(self.keys.grain, wall, self.keys.week_start), self.keys.zone)

    def _around(self, wall: datetime, tells_repeats: bool, back: int, ahead: int) -> list[datetime]:
        """The starts of the periods around every instant that `wall` can mean."""
        grain, zone, week_start = self.keys.grain, self.keys.zone, self.keys.week_start
        found = (
            (instant_of(wall, zone),)
            if tells_repeats
            else instants_of(wall, zone) or (instant_of(wall, zone),)
        )
        starts: set[datetime] = set()
        for instant in found:
            first = last = start_of(grain, instant, zone, week_start)
            starts.add(first)
            for _ in range(back):
                first = previous_start(grain, first, zone, week_start)
                starts.add(first)
            for _ in range(ahead):
                last = next_start(grain, last, zone, week_start)
                starts.add(last)
        return sorted(starts)

    def _shown(self, start: datetime) -> datetime:
        return start.astimezone(self.keys.zone).replace(tzinfo=None)

    def _label(self, start: datetime) -> datetime:
        return floor_wall(self.keys.grain, self._shown(start), self.keys.week_start)


def _count(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_MEMBERS:
        raise InvalidDefinition(
            f"a whole number of periods from 0 to {_MOST_MEMBERS} belongs here, not {value!r}"
        )


@lru_cache(maxsize=256)
def _mappings(slide: Slide) -> tuple[KeyMapping, KeyMapping]:
    """Downstream and back."""
    return downstream_mapping(slide.downstream_of), required_mapping(slide.required_by)
