"""Held runs become runs, or are closed without one; whoever calls has locked them."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TypedDict

from core import bulk
from core.models import DagRun, HeldRun
from scheduling import journal, listening, newruns, presence, rounds
from scheduling.algebra.verdicts import Verdict
from scheduling.journal import Deed
from scheduling.listening import UNKEYED, DagListening

SAID = ("verdict", "sentence", "required_count", "received_count")
"""What the last judgement said, as columns of a held run."""

CLOSED = ("state", "run_id", "closed_at", "closed_by", "judge_after")
"""What says that it is not open any more."""


class Noted(TypedDict):
    """What a run says of the keys that it was made without."""

    missing_keys: list[dict[str, object]]
    is_fired_short: bool


def say(row: HeldRun, verdict: Verdict) -> None:
    """Note on `row` what `verdict` says of it."""
    row.verdict, row.sentence = verdict.kind, verdict.sentence
    row.required_count, row.received_count = verdict.required_count, verdict.received_count


def fire(
    rows: Sequence[HeldRun], answers: dict[int, Verdict], at: datetime, deed: Deed = journal.ENGINE
) -> list[DagRun]:
    """Turn `rows`, which this transaction has locked or made, into queued runs. Whoever calls writes them."""
    made = newruns.create(
        [
            newruns.NewRun(
                dag=row.dag,
                run_type=newruns.Type.ASSET_TRIGGERED,
                partition_key=None if row.partition_key == UNKEYED else row.partition_key,
                partition_date=row.partition_date,
                triggered_by="asset",
                created_by="" if deed is journal.ENGINE else deed.by,
                **noted([answers[row.pk]]),
            )
            for row in rows
        ],
        at=at,
    )
    _close(rows, made, by=deed.by, at=at)
    _consume_present(rows, answers)
    return made


def become(rows: Sequence[HeldRun], made: Sequence[DagRun], *, by: str, at: datetime) -> None:
    """`rows`, which this transaction has locked, have become the runs `made`, in the same order.

    A run for several keys stands there as often as it has held runs.
    """
    _close(rows, made, by=by, at=at)
    bulk.update(HeldRun, CLOSED, [(row.pk, *(getattr(row, name) for name in CLOSED)) for row in rows])


def noted(verdicts: Iterable[Verdict]) -> Noted:
    """Without which keys of each asset a run is made that these are the verdicts on, a key of it each.

    It is fired short where that is too few: where wait policies do without, they are no lack.
    """
    found: dict[str, dict[str, None]] = {}
    is_short = False
    for verdict in verdicts:
        for each in verdict.progress:
            if each.missing:
                found.setdefault(each.leaf.words(), {}).update(dict.fromkeys(each.missing))
                is_short |= not verdict.is_complete
    keys: list[dict[str, object]] = [{"asset": name, "keys": list(each)} for name, each in found.items()]
    return {"missing_keys": keys, "is_fired_short": is_short}


def give_up(rows: Sequence[HeldRun], answers: dict[int, Verdict], at: datetime) -> None:
    """Cancel held runs whose deadline says so."""
    for row in rows:
        row.state, row.closed_at, row.closed_by = HeldRun.State.CANCELLED, at, "deadline"
        sentence = answers[row.pk].sentence
        journal.note("held run cancelled", at=at, about=row.dag, key=row.partition_key, sentence=sentence)


def _consume_present(rows: Sequence[HeldRun], answers: dict[int, Verdict]) -> None:
    """A run has also consumed the newest event of an asset without partitions that was there for it."""
    present = {row: [each.leaf for each in answers[row.pk].progress if each.present] for row in rows}
    heard = listening.of_dags({row.dag for row, leaves in present.items() if leaves})
    pairs = [
        (row.pk, asset_id)
        for row, leaves in present.items()
        if leaves and isinstance(answer := heard[row.dag_id], DagListening)
        for asset_id, leaf in answer.leaf_of.items()
        if leaf in leaves
    ]
    latest = presence.latest_events(asset_id for _, asset_id in pairs) if pairs else {}
    rounds.consume((pk, latest[asset_id]) for pk, asset_id in pairs if asset_id in latest)


def _close(rows: Sequence[HeldRun], made: Sequence[DagRun], *, by: str, at: datetime) -> None:
    for row, run in zip(rows, made, strict=True):
        row.state, row.run_id, row.closed_at, row.closed_by = HeldRun.State.FIRED, run.pk, at, by
        row.judge_after = None
