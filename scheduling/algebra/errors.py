"""What can go wrong with keys and definitions; every message is a sentence for the person who can mend it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

T = TypeVar("T")

HOURS_LOST = "hours-lost"
"""The code of warnings that two hours have one name."""


class Caution(str):
    """A warning as a sentence, with a `code` for programs that stays when the sentence is worded anew.

    `at`: the instant that it warns of, if it is one.
    """

    __slots__ = ("at", "code")
    code: str
    at: datetime | None

    def __new__(cls, sentence: str, code: str, at: datetime | None = None) -> Caution:
        made = super().__new__(cls, sentence)
        made.code, made.at = code, at
        return made


class PartitionError(ValueError):
    """A key or a definition that the algebra refuses."""


class InvalidKey(PartitionError):
    """A key that cannot be a key, or that a format cannot read."""


class CannotMap(PartitionError):
    """A key that a mapper does not take."""


class BeyondCalendar(CannotMap, OverflowError):
    """A window that would leave the years 1 to 9999."""


class InvalidDefinition(PartitionError):
    """A definition that cannot work; `path` says where in it, as in `window.direction` or `mappers[1]`."""

    def __init__(self, message: str, *, path: str = "") -> None:
        super().__init__(message)
        self.path = path

    def below(self, step: str) -> InvalidDefinition:
        """The same refusal seen from one level up: `step` is the field, or `[n]`, that led here."""
        joint = "" if not self.path or self.path.startswith("[") else "."
        return type(self)(str(self), path=f"{step}{joint}{self.path}")


class MismatchedDefinition(InvalidDefinition, TypeError):
    """Parts that do not fit together, such as a window of hours over a mapper that yields plain strings."""


def within(step: str, build: Callable[..., T], *arguments: Any) -> T:
    """What `build` makes of the arguments; a refusal says that it came from the field `step`."""
    try:
        return build(*arguments)
    except InvalidDefinition as error:
        raise error.below(step) from None
