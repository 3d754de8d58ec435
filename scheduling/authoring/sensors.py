"""Sensors as authors write them: functions that look at the world outside, and say what they saw."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, overload

from scheduling.algebra.durations import duration, duration_words
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring import loading
from scheduling.authoring.assets import Asset
from scheduling.authoring.attempts import Span

SHORTEST, LONGEST_TIMEOUT = timedelta(seconds=1), timedelta(minutes=3)
EVERY, TIMEOUT = timedelta(seconds=30), timedelta(seconds=60)
LONGEST_CURSOR = 100_000
"""Characters: it is read and written with every look, and shown in lists."""


@dataclass(frozen=True, slots=True)
class Report:
    """A partition of an asset that changed; no key for an asset that has none."""

    asset: str
    partition_key: str | None
    extra: dict[str, Any]
    idempotency_key: str | None


@dataclass(frozen=True, slots=True)
class Trigger:
    """A run that is asked for. One that has the id of a run that is there already is that run."""

    dag_id: str
    partition_key: str | None
    conf: dict[str, Any]
    run_id: str | None


@dataclass(frozen=True, slots=True)
class KeyChange:
    """Keys of dynamic partitions to be added, or removed."""

    partitions: str | Asset
    keys: tuple[str, ...]
    is_removal: bool = False


@dataclass(eq=False, slots=True)
class Look:
    """One look: what the function sees of it, and says in it.

    All that it says is recorded together with `cursor`, in one transaction, once the function has returned;
    nothing is if it raises. So what was seen once is told once, whatever dies in between.

    :param cursor: text of the author's choice, as the last look that succeeded left it; empty at first.
    :param at: when this look began, in UTC.
    """

    cursor: str
    at: datetime
    sentence: str = ""
    reports: list[Report] = field(default_factory=list, init=False)
    triggers: list[Trigger] = field(default_factory=list, init=False)
    key_changes: list[KeyChange] = field(default_factory=list, init=False)

    def report(
        self,
        asset: Asset | str,
        partition_key: str | None = None,
        *,
        extra: Mapping[str, Any] | None = None,
        idempotency_key: str | None = None,
    ) -> None:
        """This partition of the asset has changed."""
        name = asset if isinstance(asset, str) else asset.name
        self.reports.append(Report(name, partition_key, dict(extra or {}), idempotency_key))

    def trigger(
        self,
        dag_id: str,
        partition_key: str | None = None,
        *,
        conf: Mapping[str, Any] | None = None,
        run_id: str | None = None,
    ) -> None:
        """Let this Dag run. With a `run_id` that it has a run of already, nothing happens."""
        self.triggers.append(Trigger(dag_id, partition_key, dict(conf or {}), run_id))

    def add_keys(self, partitions: str | Asset, keys: str | Iterable[str]) -> None:
        """Add keys of dynamic partitions, named or given as an asset that has them."""
        self.key_changes.append(KeyChange(partitions, _several(keys)))

    def remove_keys(self, partitions: str | Asset, keys: str | Iterable[str]) -> None:
        self.key_changes.append(KeyChange(partitions, _several(keys), is_removal=True))

    def say(self, sentence: str) -> None:
        """Why there is nothing, or whatever else is worth reading on the sensor's page."""
        self.sentence = sentence


Function = Callable[[Look], object]


@dataclass(eq=False, slots=True)
class Sensor:
    """A function and how often it looks. Nothing is checked here: see `terms_of`."""

    function: Function
    name: str
    every: Span = EVERY
    timeout: Span = TIMEOUT
    description: str = ""
    is_paused_upon_creation: bool = False

    def __post_init__(self) -> None:
        loading.collect(self)

    def __call__(self, look: Look) -> object:
        return self.function(look)


@overload
def sensor(function: Function, /) -> Sensor: ...


@overload
def sensor(
    *, every: Span = EVERY, timeout: Span = TIMEOUT, name: str = "", is_paused_upon_creation: bool = False
) -> Callable[[Function], Sensor]: ...


def sensor(
    function: Function | None = None,
    /,
    *,
    every: Span = EVERY,
    timeout: Span = TIMEOUT,
    name: str = "",
    is_paused_upon_creation: bool = False,
) -> Sensor | Callable[[Function], Sensor]:
    """Make a sensor of a function that takes a `Look`: `@sensor`, or `@sensor(every="5m")`.

    :param every: from the beginning of one look to the next; never two at once.
    :param timeout: how long a look may take, 3 minutes at most.
    """

    def decorate(function: Function) -> Sensor:
        described = next(iter((function.__doc__ or "").strip().splitlines()), "")
        return Sensor(function, name or function.__name__, every, timeout, described, is_paused_upon_creation)

    return decorate(function) if function is not None else decorate


@dataclass(frozen=True, slots=True)
class SensorTerms:
    every: timedelta
    timeout: timedelta


def terms_of(sensor: Sensor) -> SensorTerms:
    """How often and how long `sensor` looks.

    :raises InvalidDefinition: naming the argument that cannot be.
    """
    every, timeout = _span("every", sensor.every), _span("timeout", sensor.timeout)
    if every < SHORTEST:
        raise InvalidDefinition(f"every: a sensor looks at most once a second, not every {every}")
    if timeout > LONGEST_TIMEOUT:
        raise InvalidDefinition(
            f"timeout: a look takes {duration_words(LONGEST_TIMEOUT)} at most, not {duration_words(timeout)};"
            " let it trigger a Dag for longer work"
        )
    return SensorTerms(every, timeout)


def _span(name: str, value: object) -> timedelta:
    try:
        return duration(value)
    except InvalidDefinition as refusal:
        raise InvalidDefinition(f"{name}: {refusal}") from None


def _several(keys: str | Iterable[str]) -> tuple[str, ...]:
    return (keys,) if isinstance(keys, str) else tuple(keys)
