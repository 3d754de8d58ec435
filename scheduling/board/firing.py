"""How somebody fired a held run by hand: without which keys, and for what reason."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.models import DagRun, HeldRun, JournalEntry
from scheduling import holds
from scheduling.algebra.phrases import key_list
from scheduling.algebra.progress import Progress


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
    rows = list(HeldRun.objects.filter(run=run).select_related("dag"))
    verdicts = holds.assess(rows, now=run.queued_at).values()
    among = {each.leaf.words(): each for verdict in verdicts for each in verdict.progress}
    return [_without(each["asset"], each["keys"], among.get(each["asset"])) for each in run.missing_keys]


def reason_of(run: DagRun) -> str:
    """What whoever fired it by hand said why, as the journal holds it; empty if nothing."""
    row = HeldRun.objects.filter(run=run).select_related("dag").first()
    if row is None or row.closed_at is None:
        return ""
    said = JournalEntry.objects.filter(
        at=row.closed_at, event="held run fired by hand", dag_id=row.dag.dag_id, run_id=run.run_id
    )
    return said.order_by("at", "id").values_list("reason", flat=True).first() or ""


def reason_of_end(row: HeldRun) -> str:
    """What whoever cancelled the held run said why, as the journal holds it; empty if nothing."""
    if row.state != HeldRun.State.CANCELLED or row.closed_at is None:
        return ""
    said = JournalEntry.objects.filter(
        at=row.closed_at, event="held run cancelled", dag_id=row.dag.dag_id, partition_key=row.partition_key
    )
    return said.order_by("at", "id").values_list("reason", flat=True).first() or ""


def _without(asset: str, keys: Sequence[str], progress: Progress | None) -> Without:
    required = (progress and progress.required) or ()
    if progress is None or not frozenset(required).issuperset(keys):
        return Without(asset, len(keys), ", ".join(keys))
    return Without(asset, len(keys), key_list(keys, required, progress.noun))
