"""Who did what, when, from what to what. Written in the transaction of the deed itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import bulk
from core.models import Asset, Dag, DagRun, JournalEntry

ATTEMPT_FAILED, WORKER_LOST = "run failed, will be retried", "worker lost"
"""What is said of an attempt that has ended and was not the last, by whoever ends it."""

RUN_RETRIED = "run retried"
"""What is said of the one before, when somebody asks for another attempt."""

COLUMNS = (
    *("at", "by", "via", "event", "dag_id", "asset_name", "partition_key", "run_id", "reason", "extra"),
    "request_id",
)


@dataclass(frozen=True, slots=True)
class Deed:
    """The person (or "engine") who acts, the face they came through (web, api, cli, engine), and why.

    `request_id`: the name of the web request in which they do.
    """

    by: str = "engine"
    via: str = "engine"
    reason: str = ""
    request_id: str = ""


ENGINE = Deed()


def note(
    event: str,
    *,
    deed: Deed = ENGINE,
    at: datetime,
    about: Dag | Asset | DagRun | None = None,
    key: str | None = None,
    **extra: Any,
) -> None:
    """Write one entry; `extra` holds whatever else is worth knowing, as JSON."""
    note_all([entry(event, deed=deed, at=at, about=about, key=key, **extra)])


def note_all(entries: Sequence[JournalEntry]) -> None:
    """Write many in one statement."""
    rows = [tuple(getattr(each, name) for name in COLUMNS) for each in entries]
    bulk.insert(JournalEntry, COLUMNS, rows)


def entry(
    event: str,
    *,
    deed: Deed = ENGINE,
    at: datetime,
    about: Dag | Asset | DagRun | None = None,
    key: str | None = None,
    **extra: Any,
) -> JournalEntry:
    """An entry for `note_all`, not written yet; it takes what `note` does.

    One about a run of a backfill names that, too.
    """
    if isinstance(about, DagRun) and about.backfill_id:
        extra = {"backfill": about.backfill_id} | extra
    return JournalEntry(
        at=at,
        by=deed.by,
        via=deed.via,
        reason=deed.reason,
        request_id=deed.request_id,
        event=event,
        partition_key=key or "",
        extra=extra,
        **_names(about),
    )


def _names(about: Dag | Asset | DagRun | None) -> dict[str, str]:
    if isinstance(about, Dag):
        return {"dag_id": about.dag_id}
    if isinstance(about, Asset):
        return {"asset_name": about.name}
    if isinstance(about, DagRun):
        return {"dag_id": about.dag.dag_id, "run_id": about.run_id}
    return {}
