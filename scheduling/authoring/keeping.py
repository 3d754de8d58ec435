"""What can be kept of what an author writes: JSON, and text without NUL and half characters."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from math import isfinite

from scheduling.algebra.errors import InvalidDefinition

DEEPEST = 40

_PLAIN = (int, date, timedelta, type(None))


def check_kept(what: str, value: object) -> None:
    """Let `value` pass if a database can keep it, with all that is inside it.

    :raises InvalidDefinition: saying of `what` which part of it cannot be kept.
    """
    left = [(value, 1)]
    while left:
        part, level = left.pop()
        if level > DEEPEST:
            raise InvalidDefinition(f"{what} is nested more than {DEEPEST} deep")
        if isinstance(part, str):
            _check_text(what, part)
        elif isinstance(part, Mapping):
            left += [(inner, level + 1) for inner in (*part.keys(), *part.values())]
        elif isinstance(part, Sequence) and not isinstance(part, (bytes, bytearray)):
            left += [(inner, level + 1) for inner in part]
        elif not (isinstance(part, _PLAIN) or (isinstance(part, float) and isfinite(part))):
            raise InvalidDefinition(f"{what} holds what is no JSON: {part!r}")


def _check_text(what: str, text: str) -> None:
    if "\0" in text or not _is_whole(text):
        raise InvalidDefinition(f"{what} holds a character that no database keeps: {text[:60]!r}")


def _is_whole(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
