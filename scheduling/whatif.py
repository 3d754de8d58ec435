"""What would happen if certain keys came: which can be delivered, and what they would do."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from scheduling import listening, mapping
from scheduling.algebra.lacking import Lack, lacks_of
from scheduling.algebra.verdicts import Held, Kind, Progress, Verdict
from scheduling.assessing import Case
from scheduling.listening import DagListening
from scheduling.mapping import NotMapped
from scheduling.queueing import Hindrance


def deliverable(case: Case, lacks: Iterable[Lack]) -> tuple[Lack, ...]:
    """`lacks` with only those keys whose events would count; a problem where that are too few."""
    heard = listening.of_dag(case.dag)
    assets = {leaf: asset_id for asset_id, leaf in heard.leaf_of.items()}
    return tuple(_deliverable(case, heard, lack, assets.get(lack.leaf)) for lack in lacks)


def any_event(case: Case) -> tuple[Lack, ...]:
    """One event of an asset that is there already: what opens a held run that has all it needs."""
    whatever = Verdict(
        Kind.WAITING,
        "",
        tuple(Progress(leaf) for leaf in case.listening.condition.leaves() if leaf not in case.held.present),
    )
    named = [Lack(leaf, tuple(keys)[:1]) for leaf, keys in case.held.received.items() if keys]
    found = deliverable(case, [*named, *lacks_of(case.listening, case.held.key, whatever)])
    able = [lack for lack in found if not lack.problem]
    others = [Lack(leaf, ()) for leaf in case.listening.condition.leaves() if leaf not in case.held.present]
    return tuple((able or others)[:1])


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
        return f"{when} settles, and fires at {then.until:%Y-%m-%d %H:%M:%S} UTC if nothing more comes."
    return f"{when} still does not fire: {then.sentence}."


def _deliverable(case: Case, heard: DagListening, lack: Lack, asset_id: int | None) -> Lack:
    if lack.problem or (asset_id is not None and not lack.keys):
        return lack
    if asset_id is None:
        return replace(lack, problem="nothing defines it yet")
    able, reason = [], ""
    for key in lack.keys:
        try:
            if case.held.key in mapping.downstream_of(case.dag, heard, asset_id, key):
                able.append(key)
        except NotMapped as refusal:
            reason = str(refusal)
    if len(able) >= lack.count:
        return replace(lack, keys=tuple(able))
    return replace(lack, problem=reason or f"none of its keys maps to {case.held.key}")
