"""For what reason somebody fired or cancelled a held run by hand."""

from core.models import DagRun, HeldRun, JournalEntry


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
