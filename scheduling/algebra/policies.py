"""Wait policies: how many of the keys that a held run requires must have arrived."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from scheduling.algebra.durations import duration, duration_words
from scheduling.algebra.errors import InvalidDefinition, within
from scheduling.algebra.phrases import some


class WaitPolicy(ABC):
    """Counts are of distinct required keys; a key that is not required never counts."""

    __slots__ = ()

    @abstractmethod
    def threshold(self, required: int) -> int:
        """How many of `required` keys must have arrived."""

    @abstractmethod
    def sentence(self) -> str:
        """The policy in words: `at least 20`."""

    def needs(self, required: int) -> str:
        """What a held run that requires so many keys waits for, in words: `20 of 24 keys`."""
        asked = self.threshold(required)
        if asked > required:
            return f"{some(asked, 'key')}, and there can only be {required:,}"
        least = min(max(1, asked), required)
        return some(required, "key") if least == required else f"{least:,} of {some(required, 'key')}"

    def satisfied(self, received: int, required: int) -> bool:
        return received >= self.threshold(required)

    def unreachable(self, required: int) -> bool:
        """Whether even all the keys would be too few."""
        return self.threshold(required) > required

    def after_waiting(self, waited: timedelta) -> WaitPolicy:
        """What decides once a held run has waited that long."""
        return self

    def gives_up(self, waited: timedelta) -> bool:
        """Whether a held run that has waited that long in vain is to be cancelled."""
        return False

    def patience(self) -> timedelta | None:
        """How long a held run waits before this policy changes its mind; none if it never does."""
        return None


@dataclass(frozen=True, slots=True)
class WaitForAll(WaitPolicy):
    """Every required key."""

    def threshold(self, required: int) -> int:
        return required

    def sentence(self) -> str:
        return "all"


@dataclass(frozen=True, slots=True)
class MinimumCount(WaitPolicy):
    """At least `n` keys or, when `n` is negative, all but `-n` of them.

    :raises InvalidDefinition: for zero and for anything but a whole number.
    """

    n: int

    def __post_init__(self) -> None:
        if isinstance(self.n, bool) or not isinstance(self.n, int):
            raise InvalidDefinition(f"MinimumCount takes a whole number of keys, not {self.n!r}", path="n")
        if self.n == 0:
            raise InvalidDefinition("MinimumCount(0) would wait for nothing; use 1 or more, or -1", path="n")

    def threshold(self, required: int) -> int:
        return self.n if self.n > 0 else max(0, required + self.n)

    def sentence(self) -> str:
        return f"at least {self.n}" if self.n > 0 else f"at most {-self.n} missing"


class Outcome(StrEnum):
    """What a deadline that has passed does, other than lowering the count."""

    FIRE = "fire"
    CANCEL = "cancel"


Fire = Outcome.FIRE
Cancel = Outcome.CANCEL


@dataclass(frozen=True, slots=True)
class Deadline(WaitPolicy):
    """All keys, but never for ever: `after` its held run was opened, `then` decides.

    `after` is a timedelta, or text such as `6h`, `90m` or `1d12h`.
    """

    after: timedelta
    then: MinimumCount | Outcome

    def __post_init__(self) -> None:
        object.__setattr__(self, "after", within("after", duration, self.after))
        object.__setattr__(self, "then", within("then", _ending, self.then))

    def threshold(self, required: int) -> int:
        return required

    def sentence(self) -> str:
        then = self.then.sentence() if isinstance(self.then, MinimumCount) else self.then.value
        return f"all, or after {duration_words(self.after)}: {then}"

    def needs(self, required: int) -> str:
        then = {Outcome.FIRE: "whatever has come", Outcome.CANCEL: "it is cancelled"}
        ending = self.then.needs(required) if isinstance(self.then, MinimumCount) else then[self.then]
        return f"{WaitPolicy.needs(self, required)}; after {duration_words(self.after)} {ending}"

    def passed(self, waited: timedelta) -> bool:
        """Whether a held run that was opened `waited` ago waits no longer for all."""
        return waited >= self.after

    def after_waiting(self, waited: timedelta) -> WaitPolicy:
        if not self.passed(waited) or self.then is Outcome.CANCEL:
            return self
        return self.then if isinstance(self.then, MinimumCount) else _Whatever()

    def gives_up(self, waited: timedelta) -> bool:
        return self.then is Outcome.CANCEL and self.passed(waited)

    def patience(self) -> timedelta | None:
        return self.after


@dataclass(frozen=True, slots=True)
class _Whatever(WaitPolicy):
    """What a deadline that fires comes down to."""

    def threshold(self, required: int) -> int:
        return 0

    def sentence(self) -> str:
        return "whatever has come"


def _ending(then: object) -> MinimumCount | Outcome:
    if isinstance(then, MinimumCount):
        return then
    try:
        return Outcome(str(then).lower())
    except ValueError:
        raise InvalidDefinition(f"a Deadline ends in MinimumCount(n), Fire or Cancel, not {then!r}") from None
