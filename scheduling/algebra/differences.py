"""What differs between two specs, path by path."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduling.algebra import condition_specs, specs
from scheduling.algebra.errors import PartitionError

LONGEST = 80


class _Absent:
    def __repr__(self) -> str:
        return "not set"


ABSENT: Any = _Absent()
"""Stands for what one of the two does not say."""


@dataclass(frozen=True, slots=True)
class Difference:
    """At `path`, one says `was` and the other `now`; either may be `ABSENT`."""

    path: str
    was: Any
    now: Any

    def sentence(self) -> str:
        """`wait_policy.n: 20 → 23`; of two timetables, when each of them runs."""
        was, now = _timetable_words(self.was), _timetable_words(self.now)
        if not self.path and (was or now):
            return f"runs: {was or _short(self.was)} → {now or _short(self.now)}"
        return f"{self.path or 'all of it'}: {_short(self.was)} → {_short(self.now)}"


def differences(was: Any, now: Any, path: str = "") -> tuple[Difference, ...]:
    """Every place at which two specs differ; parts of another type, and conditions, differ whole."""
    return tuple(_differences(was, now, path))


def _differences(was: Any, now: Any, path: str) -> Iterator[Difference]:
    parts = isinstance(was, Mapping) and isinstance(now, Mapping) and was.get("type") == now.get("type")
    if parts and not (condition_specs.is_condition(was) and condition_specs.is_condition(now)):
        for name in dict.fromkeys((*was, *now)):
            below = f"{path}.{name}" if path else str(name)
            yield from _differences(was.get(name, ABSENT), now.get(name, ABSENT), below)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for number, (first, second) in enumerate(zip(was, now, strict=True)):
            yield from _differences(first, second, f"{path}[{number}]")
    elif was is not now and (type(was) is not type(now) or was != now):
        yield Difference(path, was, now)


def _timetable_words(value: Any) -> str:
    """When a timetable runs; empty for what is none, or none any more."""
    if value is None:
        return "only when somebody triggers it"
    try:
        words: str = specs.load(value, "timetable").words()
    except PartitionError:
        return ""
    return words


def _short(value: Any) -> str:
    if value is ABSENT:
        return "not set"
    text = _written(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _written(value: Any) -> str:
    """As a file of definitions would say it: `MinimumCount(n=23)`, its fields by their names."""
    if condition_specs.is_condition(value):
        return condition_specs.words(value)
    if isinstance(value, Mapping) and isinstance(value.get("type"), str):
        fields = [f"{name}={_written(value[name])}" for name in sorted(value) if name != "type"]
        return f"{value['type']}({', '.join(fields)})"
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
