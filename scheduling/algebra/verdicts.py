"""May a held run fire, and if not, why not? The one place that decides (semantics, section 6).

Scheduler, pages, API, preview and explanation all call `judge`; none of them decides again.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from scheduling.algebra.conditions import Expression, Leaf
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.policies import WaitForAll
from scheduling.algebra.progress import Held, Progress, progress_of

SETTLE = timedelta(minutes=10)

MOST_NAMED = 5
"""Late or unexpected keys named in a sentence."""


class Late(StrEnum):
    """What another event for a downstream key does after its held run has fired."""

    SETTLE = "settle"
    IMMEDIATE = "immediate"
    HOLD = "hold"
    MARK_STALE = "mark_stale"
    RESTART = "restart"


class Kind(StrEnum):
    READY = "ready"
    WAITING = "waiting"
    SETTLING = "settling"
    UNREACHABLE = "unreachable"
    BROKEN = "broken"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True)
class Listening:
    """How one Dag listens: its condition, a mapper for each leaf of it, and what late keys do.

    `late_after`: how long after its expected time a missing key makes a held run overdue; none: never.
    """

    condition: Expression
    mappers: Mapping[Leaf, Mapper]
    late: Late = Late.SETTLE
    settle: timedelta = SETTLE
    late_after: timedelta | None = None

    def starts_with_one_key(self) -> bool:
        """One 1:1 dependency, or alternatives of such: every fresh key is a reason to run."""
        return not any(mapper.is_rollup for mapper in self.mappers.values()) and all(
            self.condition.holds(lambda other, leaf=leaf: other == leaf)  # type: ignore[misc]
            for leaf in self.condition.leaves()
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind`, the same in words, and the progress per asset.

    `until`: look again then, event or not; `then`: what it does then where only a deadline ends its waiting.
    `gives_up`: a deadline has passed that cancels the held run.
    `is_complete`: all that a first run of the key needs is there, by its wait policies.
    """

    kind: Kind
    sentence: str
    progress: tuple[Progress, ...] = ()
    until: datetime | None = None
    then: str = ""
    gives_up: bool = False
    is_complete: bool = False

    @property
    def may_fire(self) -> bool:
        return self.kind is Kind.READY

    @property
    def required_count(self) -> int:
        return sum(each.required_count for each in self.progress)

    @property
    def received_count(self) -> int:
        return sum(each.received_count for each in self.progress)


def judge(listening: Listening, held: Held, now: datetime) -> Verdict:
    """Decide one held run. Cost grows with the keys it requires, with nothing else."""
    progress = tuple(
        progress_of(leaf, listening.mappers[leaf], held, now) for leaf in listening.condition.leaves()
    )
    by_leaf = {each.leaf: each for each in progress}
    restart = held.is_late and listening.late is Late.RESTART
    arrived = (lambda leaf: by_leaf[leaf].renewed) if restart else (lambda leaf: by_leaf[leaf].satisfied)
    if not listening.condition.holds(arrived):
        until = _next_deadline(listening, held, now)
        lacking = _given_up(listening, held, by_leaf, arrived, now) or _held_back(
            listening.condition, by_leaf, arrived, until, anew=restart
        )
        if lacking.kind is not Kind.WAITING or until is None:
            return lacking
        return replace(lacking, then=_ending(judge(listening, held, until)))
    if held.paused:
        verdict = Verdict(Kind.PAUSED, "complete; the Dag is paused", progress)
    elif not held.is_late or restart:
        verdict = Verdict(Kind.READY, "complete", progress)
    else:
        verdict = _late(listening, held, by_leaf, now)
    return replace(verdict, is_complete=True)


def _ending(verdict: Verdict) -> str:
    """What a held run does by itself, if nothing more comes until the `verdict` on it is this one."""
    if verdict.gives_up:
        return "is cancelled"
    return "fires" if verdict.may_fire else ""


def _given_up(
    listening: Listening,
    held: Held,
    by_leaf: Mapping[Leaf, Progress],
    arrived: Callable[[Leaf], bool],
    now: datetime,
) -> Verdict | None:
    """The end of a held run that cannot fire any more without a leaf whose deadline says to cancel it."""

    def is_over(leaf: Leaf) -> bool:
        policy = listening.mappers[leaf].wait_policy
        return bool(policy and policy.gives_up(now - held.opened_at)) and not arrived(leaf)

    over = [leaf for leaf in by_leaf if is_over(leaf)]
    condition = listening.condition

    def could(leaf: Leaf) -> bool:
        return not by_leaf[leaf].error

    if condition.holds(lambda leaf: leaf not in over) and (
        not condition.holds(could) or condition.holds(lambda leaf: could(leaf) and leaf not in over)
    ):
        return None
    policy = listening.mappers[over[0]].wait_policy or WaitForAll()
    sentence = f"its deadline for {over[0].words()} has passed: {policy.sentence()}"
    return Verdict(Kind.UNREACHABLE, sentence, tuple(by_leaf.values()), gives_up=True)


def _next_deadline(listening: Listening, held: Held, now: datetime) -> datetime | None:
    """When the next of the wait policies changes its mind."""
    waits = [mapper.wait_policy.patience() for mapper in listening.mappers.values() if mapper.wait_policy]
    ends = [held.opened_at + wait for wait in waits if wait is not None]
    return min((end for end in ends if end > now), default=None)


def _held_back(
    condition: Expression,
    by_leaf: Mapping[Leaf, Progress],
    arrived: Callable[[Leaf], bool],
    until: datetime | None,
    *,
    anew: bool,
) -> Verdict:
    """Name what is lacking, or has to come `anew`; worse than lacking is what can never come."""
    progress = tuple(by_leaf.values())
    lacking = [each for each in progress if not arrived(each.leaf)]
    if not condition.holds(lambda leaf: not by_leaf[leaf].error):
        broken = next(each for each in lacking if each.error)
        return Verdict(Kind.BROKEN, _about(broken, progress), progress, until)
    if not condition.holds(lambda leaf: not (by_leaf[leaf].error or by_leaf[leaf].unreachable)):
        hopeless = next(each for each in lacking if each.unreachable)
        return Verdict(Kind.UNREACHABLE, f"can never fire: {_about(hopeless, progress)}", progress, until)
    if not condition.holds(lambda leaf: not _is_hopeless(by_leaf[leaf])):
        beyond = "; ".join(each.sentence() for each in lacking if each.is_beyond)
        return Verdict(Kind.UNREACHABLE, f"waits for what is not to come: {beyond}", progress, until)
    words = "; ".join(_about(each.anew() if anew else each, progress) for each in lacking)
    return Verdict(Kind.WAITING, f"waiting on {words}{_not_counted(progress)}", progress, until)


def _is_hopeless(each: Progress) -> bool:
    """Whether nothing lets it come, or only somebody who reports what its asset is not to have."""
    return bool(each.error) or each.unreachable or each.is_beyond


def _not_counted(progress: tuple[Progress, ...]) -> str:
    """Keys that map here and are not required: whoever sent one wonders why it did not help."""
    keys = [key for each in progress for key in each.unexpected]
    reasons = [reason for each in progress for reason in each.reasons]
    why = f" ({'; '.join(reasons[:MOST_NAMED])})" if reasons else ""
    return f"; unexpected, so not counted: {_first(keys)}{why}" if keys else ""


def _first(keys: list[str]) -> str:
    more = f" and {len(keys) - MOST_NAMED} more" if keys[MOST_NAMED:] else ""
    return ", ".join(keys[:MOST_NAMED]) + more


def _about(each: Progress, progress: tuple[Progress, ...]) -> str:
    if len(progress) == 1 and each.required is not None:
        return each.sentence()
    return f"{each.leaf.words()} ({each.sentence()})"


def _late(listening: Listening, held: Held, by_leaf: Mapping[Leaf, Progress], now: datetime) -> Verdict:
    """A complete held run whose key has fired before: does it fire again, and when?"""
    progress = tuple(by_leaf.values())
    if listening.late is Late.HOLD:
        return Verdict(Kind.WAITING, _wants_approval(held), progress)
    if listening.late is Late.MARK_STALE:
        return Verdict(Kind.WAITING, "late keys only mark its partition stale", progress)
    if listening.late is Late.IMMEDIATE or listening.starts_with_one_key():
        return Verdict(Kind.READY, "complete; a late key came", progress)
    if listening.condition.holds(lambda leaf: by_leaf[leaf].renewed):
        return Verdict(Kind.READY, "complete; everything came anew", progress)
    until = held.last_event_at + listening.settle
    if now >= until:
        return Verdict(Kind.READY, "complete; late keys have settled", progress)
    return Verdict(Kind.SETTLING, _settling(progress, until), progress, until)


def _settling(progress: tuple[Progress, ...], until: datetime) -> str:
    """Names both ways in which it ends: the instant moves with every late key."""
    anew = sum(each.renewed_count for each in progress)
    wanted = sum(each.required_count for each in progress)
    return (
        f"settling: {anew} of {wanted} came anew; fires when {_enough(progress)} have,"
        f" or at {until:%Y-%m-%d %H:%M:%S} UTC if nothing more comes"
    )


def _enough(progress: tuple[Progress, ...]) -> str:
    """How many have to come anew; of several assets it is no single number."""
    if len(progress) > 1:
        return "enough"
    return "all" if progress[0].needed >= progress[0].required_count else str(progress[0].needed)


def _wants_approval(held: Held) -> str:
    """Names the late keys in the order in which they came, the first few of many."""
    late = [key for received in held.received.values() for key, fresh in received.items() if fresh]
    return "waiting for a person: late keys need approval" + (f": {_first(late)}" if late else "")
