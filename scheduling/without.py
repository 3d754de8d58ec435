"""Without which keys a run was made: those that a person, or a wait policy, did not wait for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.models import DagRun
from scheduling.algebra.phrases import key_list, listed
from scheduling.algebra.progress import Progress
from scheduling.assessing import as_if_opened, judge
from scheduling.listening import BrokenDefinition


@dataclass(frozen=True, slots=True)
class Without:
    """Keys of one asset that a run was fired without. `words` name them: `days 01–07, 16–31`."""

    asset: str
    count: int
    words: str


def fired_without(run: DagRun) -> list[Without]:
    """What was missing when `run` was fired, per asset.

    In words where its schedule still requires those keys; one by one where it requires others today.
    """
    if not run.missing_keys:
        return []
    among = _progress(run)
    return [_without(each["asset"], each["keys"], among.get(each["asset"])) for each in run.missing_keys]


def in_words(run: DagRun) -> str:
    """`, without hour 03`: how a sentence about `run` goes on; empty if nothing was missing."""
    found = fired_without(run)
    if len(found) == 1:
        return f", without {found[0].words}"
    return "".join(f", without {each.words} of {each.asset}" for each in found)


def _progress(run: DagRun) -> Mapping[str, Progress]:
    """How far a held run of its key would be with each asset, by name, as its Dag listens now."""
    if run.partition_key is None:
        return {}
    try:
        case = as_if_opened(run.dag, run.partition_key, now=run.queued_at)
    except BrokenDefinition:
        return {}
    return {each.leaf.words(): each for each in judge(case, now=run.queued_at).progress}


def _without(asset: str, keys: Sequence[str], progress: Progress | None) -> Without:
    required = (progress and progress.required) or ()
    if progress is None or not frozenset(required).issuperset(keys):
        return Without(asset, len(keys), listed(keys))
    return Without(asset, len(keys), key_list(keys, required, progress.noun))
