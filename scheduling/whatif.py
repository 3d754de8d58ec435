"""What would happen if certain keys came: which count, which open a held run, and what they would do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from scheduling import listening, mapping
from scheduling.algebra.conditions import Expression, Leaf
from scheduling.algebra.lacking import Lack, fewest, lacks_of
from scheduling.algebra.progress import Held, of_any
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.assessing import Case
from scheduling.mapping import NotMapped
from scheduling.queueing import Hindrance


@dataclass(frozen=True, slots=True)
class Way:
    """`wanted`: the fewest keys that let a held run fire; none if nothing does, for `problems`.

    `silent`: why some of them open no held run, though they count for one that is open.
    """

    wanted: tuple[Lack, ...] | None
    problems: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()


def way(case: Case, lacks: Iterable[Lack], *, is_open: bool) -> Way:
    """By which keys of `lacks` the held run of `case`, which is open or not yet, comes to fire."""
    meaning = _Meaning(case, is_open)
    lacks = tuple(meaning.deliverable(lack) for lack in lacks)
    wanted = fewest(case.listening.condition, lacks)
    if is_open or wanted is None:
        return Way(wanted, _problems(lacks))
    if any(meaning.opens(lack) for lack in wanted):
        return Way(wanted, silent=meaning.silent(wanted))
    openers, problems = _openers(case, meaning)
    ways = [_opened_by(opener, case.listening.condition, lacks) for opener in openers]
    found = min(ways, key=lambda each: sum(lack.count for lack in each), default=None)
    return Way(found, problems, meaning.silent(found or ()))


def with_keys(case: Case, lacks: Iterable[Lack], now: datetime) -> Held:
    """The held run when the keys of `lacks` have just come."""
    received = {leaf: dict(keys) for leaf, keys in case.held.received.items()}
    known, keys = dict(case.held.known), tuple[str, ...]()
    for lack in lacks:
        keys = lack.keys[: lack.count] or ("any key",)
        received.setdefault(lack.leaf, {}).update(dict.fromkeys(keys, True))
        if lack.leaf in known:
            known[lack.leaf] = tuple(dict.fromkeys((*known[lack.leaf], *keys)))
    return replace(
        case.held, received=received, known=known, last_event_at=now if keys else case.held.last_event_at
    )


def outcome(then: Verdict, hindrances: Sequence[Hindrance], is_lacking: bool) -> str:
    """What happens when nothing is missing any more, as a sentence."""
    when = "When that has come it" if is_lacking else "It"
    limits = [each for each in hindrances if each.kind in ("max_active_runs", "pool")]
    if then.kind is Kind.READY:
        queued = f", and waits for a slot: {limits[0].sentence.rstrip('.')}" if limits else ""
        return f"{when} fires at once and becomes a queued run{queued}."
    if then.kind is Kind.PAUSED:
        return f"{when} is complete, and fires when the pause ends."
    if then.kind is Kind.SETTLING and then.until:
        return (
            f"{when} settles, and fires when everything has come anew,"
            f" or at {then.until:%Y-%m-%d %H:%M:%S} UTC if nothing more comes."
        )
    return f"{when} still does not fire: {then.sentence}."


class _Meaning:
    """What events of keys mean to the held run of a case.

    Those of a key over the limit open none. They count for one that is open, and for one that is opened
    where it looks for what is there.
    """

    def __init__(self, case: Case, is_open: bool) -> None:
        self._case, self._is_open = case, is_open
        self._heard = listening.of_dag(case.dag)
        self._assets = {leaf: asset_id for asset_id, leaf in self._heard.leaf_of.items()}
        self._refusals: dict[tuple[Leaf, str], NotMapped | None] = {}

    def deliverable(self, lack: Lack, *, opening: bool = False) -> Lack:
        """`lack` with only those keys that count, or open one; a problem where that are too few."""
        if lack.problem or (lack.leaf in self._assets and not lack.keys):
            return lack
        if lack.leaf not in self._assets:
            return replace(lack, problem="nothing defines it yet")
        refusals = {key: self._refusal(lack.leaf, key) for key in lack.keys}
        able = [
            key
            for key, refusal in refusals.items()
            if refusal is None or (not opening and self._counts(lack.leaf, key, refusal))
        ]
        if len(able) >= lack.count:
            return replace(lack, keys=tuple(able))
        return replace(lack, problem=next(str(refusal) for refusal in refusals.values() if refusal))

    def opens(self, lack: Lack) -> bool:
        keys = lack.keys[: lack.count]
        return not keys or any(self._refusal(lack.leaf, key) is None for key in keys)

    def silent(self, lacks: Iterable[Lack]) -> tuple[str, ...]:
        """Why keys of `lacks` open nothing."""
        named = [(lack.leaf, key) for lack in lacks for key in lack.keys[: lack.count]]
        return tuple(str(refusal) for leaf, key in named if (refusal := self._refusal(leaf, key)))

    def _counts(self, leaf: Leaf, key: str, refusal: NotMapped) -> bool:
        downstream = self._case.held.key
        if downstream not in refusal.keys:
            return False
        return self._is_open or key in (self._case.listening.mappers[leaf].upstream_keys(downstream) or ())

    def _refusal(self, leaf: Leaf, key: str) -> NotMapped | None:
        if (leaf, key) not in self._refusals:
            self._refusals[leaf, key] = self._refused(leaf, key)
        return self._refusals[leaf, key]

    def _refused(self, leaf: Leaf, key: str) -> NotMapped | None:
        downstream = self._case.held.key
        try:
            keys = mapping.downstream_of(self._case.dag, self._heard, self._assets[leaf], key)
        except NotMapped as refusal:
            return refusal
        if downstream in keys:
            return None
        return NotMapped(f"none of its keys maps to {downstream}", mapping.Kind.CANNOT_MAP)


def _openers(case: Case, meaning: _Meaning) -> tuple[list[Lack], tuple[str, ...]]:
    """Single keys that open a held run, of what is there already first; and why others do not."""
    absent = [leaf for leaf in case.listening.condition.leaves() if leaf not in case.held.present]
    mappers, nothing = case.listening.mappers, replace(case.held, received={})
    whatever = Verdict(Kind.WAITING, "", tuple(of_any(leaf, mappers[leaf], nothing) for leaf in absent))
    named = [Lack(leaf, tuple(keys)[:1]) for leaf, keys in case.held.received.items() if keys]
    named += lacks_of(case.listening, case.held.key, whatever)
    found = [meaning.deliverable(lack, opening=True) for lack in named]
    return [replace(lack, keys=lack.keys[:1]) for lack in found if not lack.problem], _problems(found)


def _opened_by(opener: Lack, condition: Expression, lacks: Sequence[Lack]) -> tuple[Lack, ...]:
    """The fewest of `lacks`, which do suffice, if the key of `opener` comes as well."""
    rest = tuple(
        replace(lack, keys=tuple(key for key in lack.keys if key not in opener.keys), count=lack.count - 1)
        if lack.leaf == opener.leaf and set(opener.keys) & set(lack.keys)
        else lack
        for lack in lacks
    )
    wanted = fewest(condition, tuple(lack for lack in rest if lack.problem or lack.count))
    return (opener, *(wanted or ()))


def _problems(lacks: Iterable[Lack]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{lack.leaf.words()}: {lack.problem}" for lack in lacks if lack.problem))
