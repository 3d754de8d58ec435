"""What is kept of what people, programs and authors hand over: JSON, as long and as deep as need be."""

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from math import isfinite
from typing import Any

from django.conf import settings

from scheduling.algebra.errors import InvalidDefinition, PartitionError

LEVELS = 10
"""How deep an `extra` or a `conf` may nest: what nests deeper cannot be shown in every list."""

LEVELS_OF_DEFINITIONS = 40
"""How deep a definition may: conditions and mappers hold others, and each is shown on a page of its own."""


class NotKept(PartitionError):
    """An `extra` or a `conf` that cannot be kept."""


def check(value: object, what: str) -> None:
    """See that the `extra` or `conf`, which a person knows as `what`, can be kept.

    :raises NotKept: naming it and the reason.
    """
    if is_short_and_flat(value):
        return
    if not isinstance(value, Mapping):
        raise NotKept(f"{what} is a dictionary, not {type(value).__name__}")
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
    except RecursionError:
        text = ""
    except (TypeError, ValueError) as error:
        raise NotKept(f"{what} is not JSON: {error}") from None
    if reason := _too_deep(value, LEVELS) or _not_stored(value):
        raise NotKept(f"{what} {reason}")
    if (found := len(text.encode())) > settings.EXTRA_LIMIT:
        raise NotKept(f"{what} has {found} bytes as JSON: at most {settings.EXTRA_LIMIT} are kept")


def check_defined(value: object, what: str) -> None:
    """See that `value`, a part of a definition that its author knows as `what`, can be kept.

    It is written as JSON later: dates and spans are words then. It may be as long as its file.

    :raises InvalidDefinition: naming it and the reason.
    """
    reason = _too_deep(value, LEVELS_OF_DEFINITIONS) or _not_stored(value) or _not_json(value)
    if reason:
        raise InvalidDefinition(f"{what} {reason}")


def is_short_and_flat(extra: object) -> bool:
    """Whether `extra` can be kept as it is: told of almost all at a tenth of the cost of `check`."""
    if type(extra) is not dict:
        return False
    for name, value in extra.items():
        kind = type(value)
        if type(name) is not str or kind not in _SINGLE or (kind is float and not isfinite(value)):
            return False
    try:
        said = repr(extra)
    except ValueError:  # a number of more than 4,300 digits
        return False
    # No character takes more bytes as JSON. Those that cannot be stored are escaped in what repr says.
    return len(said) * 6 <= settings.EXTRA_LIMIT and "\\x00" not in said and "\\ud" not in said


def is_within(value: object, levels: int = LEVELS) -> bool:
    """Whether `value` nests no deeper than so many levels."""
    return not _too_deep(value, levels)


_SINGLE: frozenset[type[Any]] = frozenset({str, int, float, bool, type(None)})
_PLAIN = (str, int, date, timedelta, type(None))


def _too_deep(value: object, levels: int) -> str:
    deep = any(level > levels for _, level in _parts(value))
    return f"is nested more than {levels} levels deep" if deep else ""


def _not_stored(value: object) -> str:
    """PostgreSQL cannot keep the character zero, and half of a surrogate pair is no text at all."""
    for part, _ in _parts(value):
        if isinstance(part, str) and ("\0" in part or any("\ud800" <= each <= "\udfff" for each in part)):
            return f"holds a character that cannot be stored: {part[:60]!r}"
    return ""


def _not_json(value: object) -> str:
    for part, _ in _parts(value):
        is_number = isinstance(part, float) and isfinite(part)
        if not (is_number or isinstance(part, _PLAIN) or _holds_others(part)):
            return f"holds what is no JSON: {part!r}"
    return ""


def _parts(value: object) -> Iterator[tuple[object, int]]:
    """`value` and all that is in it, each with the number of levels above it."""
    left = [(value, 0)]
    while left:
        part, level = left.pop()
        yield part, level
        if isinstance(part, Mapping):
            left += [(inner, level + 1) for inner in (*part.keys(), *part.values())]
        elif _holds_others(part):
            left += [(inner, level + 1) for inner in part]  # type: ignore[attr-defined]  # it is a sequence


def _holds_others(part: object) -> bool:
    return isinstance(part, Mapping) or (
        isinstance(part, Sequence) and not isinstance(part, str | bytes | bytearray)
    )
