"""The `extra` of an event, the `conf` of a run: JSON, no longer and no deeper than it needs to be."""

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from django.conf import settings

from scheduling.algebra.errors import PartitionError

LEVELS = 10
"""How deep an `extra` or a `conf` may nest: what nests deeper cannot be shown in every list."""


class NotKept(PartitionError):
    """An `extra` or a `conf` that cannot be kept."""


def check(value: object, what: str) -> None:
    """See that `value`, which a person knows as `what`, can be kept.

    :raises NotKept: naming it and the reason.
    """
    if is_short_and_flat(value):
        return
    if not isinstance(value, Mapping):
        raise NotKept(f"{what} is a dictionary, not {type(value).__name__}")
    text = _written(value, what)
    if not is_within(value):
        raise NotKept(_too_deep(what))
    for said in _texts(value):
        # PostgreSQL cannot keep the character zero, and half of a surrogate pair is no text at all.
        if "\0" in said or any("\ud800" <= character <= "\udfff" for character in said):
            raise NotKept(f"{what} holds a character that cannot be stored: {said[:60]!r}")
    if (found := len(text.encode())) > settings.EXTRA_LIMIT:
        raise NotKept(f"{what} has {found} bytes as JSON: at most {settings.EXTRA_LIMIT} are kept")


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
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return levels >= 0 and all(is_within(each, levels - 1) for each in below)


_SINGLE: frozenset[type[Any]] = frozenset({str, int, float, bool, type(None)})


def _written(value: object, what: str) -> str:
    try:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    except RecursionError:
        raise NotKept(_too_deep(what)) from None
    except (TypeError, ValueError) as error:
        raise NotKept(f"{what} is not JSON: {error}") from None


def _too_deep(what: str) -> str:
    return f"{what} is nested more than {LEVELS} levels deep"


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _texts(name)
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)
