"""What long lists are narrowed to."""

from dataclasses import dataclass
from datetime import datetime

from scheduling.belonging import EVERYTHING, Sight


@dataclass(frozen=True, slots=True)
class HeldFilter:
    """What to show of the open held runs; empty fields do not narrow."""

    verdict: str = ""
    only_late: bool = False
    dag: str = ""
    asset: str = ""
    key: str = ""
    newest_first: bool = False
    sight: Sight = EVERYTHING


@dataclass(frozen=True, slots=True)
class RunFilter:
    """What to show of the runs; empty fields do not narrow. `due`: from one instant to before another."""

    dag: str = ""
    state: str = ""
    run_type: str = ""
    key: str = ""
    run_id: str = ""
    due: tuple[datetime, datetime] | None = None
    sight: Sight = EVERYTHING


@dataclass(frozen=True, slots=True)
class JournalFilter:
    """What to show of the journal; empty fields do not narrow. `during`: from one instant to before one."""

    event: str = ""
    dag: str = ""
    asset: str = ""
    by: str = ""
    key: str = ""
    backfill: int = 0
    request: str = ""
    during: tuple[datetime, datetime] | None = None
    sight: Sight = EVERYTHING
