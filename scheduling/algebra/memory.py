"""Remembered mappings. Mapping a key is pure, and the same keys come again and again.

Whoever makes a mapping from a plan also remembers it by the plan, so that equal mappers share one memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from scheduling.algebra.errors import BeyondCalendar, CannotMap, InvalidKey

KeyMapping = Callable[[str], tuple[str, ...]]

_DOWNSTREAM_KEYS = 8192
_REQUIRED_KEYS = 512
_KEYS = 8192


def remembered(of_key: KeyMapping) -> KeyMapping:
    """`of_key`, which refuses none, with its answers remembered."""
    return lru_cache(maxsize=_KEYS)(of_key)


def downstream_mapping(map_key: Callable[[str], Iterable[str]]) -> KeyMapping:
    """`map_key` with its answers remembered, each key once; whatever it refuses is a CannotMap."""

    @lru_cache(maxsize=_DOWNSTREAM_KEYS)
    def down(key: str) -> tuple[str, ...]:
        try:
            return tuple(map_key(key))
        except CannotMap:
            raise
        except InvalidKey as error:
            raise CannotMap(str(error)) from None
        except OverflowError:
            raise BeyondCalendar(f"the period of {key!r} is beyond the calendar") from None

    return down


def required_mapping(require: Callable[[str], Iterable[str]]) -> KeyMapping:
    """`require` with its answers remembered, each key once; whatever it refuses is an InvalidKey."""

    @lru_cache(maxsize=_REQUIRED_KEYS)
    def required(downstream_key: str) -> tuple[str, ...]:
        try:
            return tuple(dict.fromkeys(require(downstream_key)))
        except InvalidKey:
            raise
        except CannotMap as error:
            raise InvalidKey(str(error)) from None
        except OverflowError:
            raise InvalidKey(f"the period of {downstream_key!r} is beyond the calendar") from None

    return required
