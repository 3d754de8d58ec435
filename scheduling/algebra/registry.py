"""The names by which specs know classes: the built-in ones, and those that plug-ins add.

A plug-in class is a frozen dataclass below `Mapper`, `Window`, `WaitPolicy` or `Timetable`. It becomes known
by `register`, or by an entry point of its package in one of the groups below.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from functools import lru_cache
from importlib.metadata import entry_points
from types import MappingProxyType
from typing import Any, TypeVar

from scheduling.algebra import (
    calendars,
    composites,
    dimensions,
    knowing,
    mappers,
    partitions,
    policies,
    rollups,
    sliding,
    spreads,
    temporal,
    time_partitions,
    timetables,
    windows,
)
from scheduling.algebra.errors import InvalidDefinition

GROUPS = MappingProxyType(
    {
        "mapper": "partitions.mappers",
        "window": "partitions.windows",
        "wait_policy": "partitions.wait_policies",
        "timetable": "partitions.timetables",
    }
)
BASES: MappingProxyType[str, type] = MappingProxyType(
    {
        "mapper": mappers.Mapper,
        "window": windows.Window,
        "wait_policy": policies.WaitPolicy,
        "timetable": timetables.Timetable,
        "partitions": partitions.Partitions,
        "calendar": calendars.BusinessCalendar,
    }
)
_BUILT_IN: tuple[type, ...] = (
    mappers.IdentityMapper,
    mappers.AllowedKeyMapper,
    mappers.FixedKeyMapper,
    knowing.AllPartitionsMapper,
    knowing.LatestPartitionMapper,
    temporal.StartOfMinuteMapper,
    temporal.StartOfHourMapper,
    temporal.StartOfDayMapper,
    temporal.StartOfWeekMapper,
    temporal.StartOfMonthMapper,
    temporal.StartOfQuarterMapper,
    temporal.StartOfYearMapper,
    composites.ProductMapper,
    composites.ChainMapper,
    rollups.RollupMapper,
    spreads.FanOutMapper,
    sliding.SlidingWindowMapper,
    windows.HourWindow,
    windows.DayWindow,
    windows.WeekWindow,
    windows.MonthWindow,
    windows.QuarterWindow,
    windows.YearWindow,
    windows.SegmentWindow,
    policies.WaitForAll,
    policies.MinimumCount,
    policies.Deadline,
    timetables.CronTriggerTimetable,
    timetables.CronPartitionTimetable,
    timetables.CronRuntimePartitionTimetable,
    timetables.PartitionedAtRuntime,
    timetables.AssetTimetable,
    timetables.PartitionedAssetTimetable,
    time_partitions.TimePartitions,
    partitions.StaticPartitions,
    partitions.DynamicPartitions,
    dimensions.MultiPartitions,
    calendars.BusinessCalendar,
)

T = TypeVar("T", bound=type)


def kind_of(cls: type) -> str:
    """Which kind of part a class is.

    :raises InvalidDefinition: if it is none.
    """
    for kind, base in BASES.items():
        if issubclass(cls, base):
            return kind
    bases = ", ".join(base.__name__ for base in BASES.values())
    raise InvalidDefinition(f"{cls.__name__} is no part of a definition: it is below none of {bases}")


def register(cls: T) -> T:
    """Make a class known by its name; usable as a decorator. Registering it again changes nothing.

    :raises InvalidDefinition: if it is no frozen dataclass of a known kind, or if another class has the name.
    """
    kind = kind_of(cls)
    parameters = getattr(cls, "__dataclass_params__", None)
    if not is_dataclass(cls) or parameters is None or not parameters.frozen:
        raise InvalidDefinition(f"{cls.__name__} is not a frozen dataclass, so that it could not be stored")
    taken = _KNOWN[kind].setdefault(cls.__name__, cls)
    if taken is not cls and (taken.__module__, taken.__qualname__) != (cls.__module__, cls.__qualname__):
        raise InvalidDefinition(f"another {kind} is already called {cls.__name__}: {taken.__module__}")
    _KNOWN[kind][cls.__name__] = cls
    return cls


def known(kind: str) -> dict[str, type]:
    """Every class of a kind by its name, those of installed plug-ins included."""
    if kind in GROUPS:
        _load_plugins(kind)
    return dict(_KNOWN[kind])


def find(name: object, kind: str) -> type:
    """The class of that name.

    :raises InvalidDefinition: if there is none; its path is `type`.
    """
    if isinstance(name, str):
        found = _KNOWN[kind].get(name) or known(kind).get(name)
        if found is not None:
            return found
    raise InvalidDefinition(_unknown(name, kind), path="type")


def _unknown(name: object, kind: str) -> str:
    for other, classes in _KNOWN.items():
        if isinstance(name, str) and name in classes and other != kind:
            return f"{name} is a {other.replace('_', ' ')}; a {kind.replace('_', ' ')} belongs here"
    return f"{name!r} is no known {kind.replace('_', ' ')}; known are {', '.join(sorted(_KNOWN[kind]))}"


@lru_cache(maxsize=16)
def _load_plugins(kind: str) -> None:
    for entry in entry_points(group=GROUPS[kind]):
        try:
            register(entry.load())
        except Exception as error:  # whatever a stranger's package raises must name that package
            raise InvalidDefinition(
                f"the plug-in {entry.name} ({entry.value}) cannot be used: {error}"
            ) from error


def _classes(kind: str) -> dict[str, Any]:
    return {cls.__name__: cls for cls in _BUILT_IN if issubclass(cls, BASES[kind])}


_KNOWN: dict[str, dict[str, Any]] = {kind: _classes(kind) for kind in BASES}
