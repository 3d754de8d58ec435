"""What the schedule of a Dag has been: read from the journal, newest first."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.models import Dag, JournalEntry
from scheduling.algebra.differences import Difference, differences

CHANGED = "schedule changed"
BACK = "schedule back to code"
CODE = "code schedule changed"
DEFINED = "dag changed"

MOST = 50


@dataclass(frozen=True, slots=True)
class Version:
    """One change of a schedule: who, when, why, from what to what.

    `revision` is what the Dag had afterwards; None where a file made the change. One that `is_aside` changed
    what the file says and not how the Dag listens.
    """

    pk: int
    event: str
    by: str
    via: str
    at: datetime
    reason: str
    was: Any
    now: Any
    revision: int | None

    @property
    def is_aside(self) -> bool:
        return self.event == CODE

    def differences(self) -> tuple[Difference, ...]:
        return differences(self.was, self.now)


def versions(dag: Dag, limit: int = MOST) -> list[Version]:
    """The last `limit` changes of the schedule of `dag` that the journal holds, newest first."""
    entries = JournalEntry.objects.filter(dag_id=dag.dag_id, event__in=(CHANGED, BACK, CODE, DEFINED))
    found = entries.filter(extra__has_key="now").order_by("-pk")[:limit]
    return [_version(each) for each in found]


def version(dag: Dag, pk: int) -> Version | None:
    """One of them."""
    entry = JournalEntry.objects.filter(dag_id=dag.dag_id, pk=pk, extra__has_key="now").first()
    return None if entry is None else _version(entry)


def _version(entry: JournalEntry) -> Version:
    extra = entry.extra
    return Version(
        entry.pk,
        entry.event,
        entry.by,
        entry.via,
        entry.at,
        entry.reason,
        extra.get("was"),
        extra.get("now"),
        extra.get("revision"),
    )
