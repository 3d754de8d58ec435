"""What held runs have counted and nobody has written yet."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from core import bulk
from core.models import ReceivedKey
from scheduling import rounds

Place = tuple[int, str]
"""An asset's primary key and an upstream key."""

Received = dict[int, dict[Place, bool]]
"""By held run: what it has received, and whether it is fresh."""

COLUMNS = ("held_run_id", "asset_id", "key", "is_fresh", "received_at")
_NEWER = bulk.Replace(COLUMNS[:3], COLUMNS[3:])


@dataclass(slots=True)
class Tally:
    """`keys`: by held run and place, whether the key is fresh and when it came. `events`: by held run."""

    keys: dict[tuple[int, int, str], tuple[bool, datetime]] = field(default_factory=dict)
    events: dict[tuple[int, int], None] = field(default_factory=dict)

    def add(self, held_run: int, place: Place, fresh: bool, at: datetime) -> None:
        self.keys[held_run, *place] = (fresh, at)

    def and_also(self, other: "Tally") -> "Tally":
        return Tally(self.keys | other.keys, self.events | other.events)

    def received(self) -> Received:
        found: Received = defaultdict(dict)
        for (held_run, asset_id, key), (fresh, _) in self.keys.items():
            found[held_run][asset_id, key] = fresh
        return found

    def write(self) -> None:
        """A key that a held run has received before is what it is now."""
        bulk.insert(ReceivedKey, COLUMNS, [(*name, *how) for name, how in self.keys.items()], _NEWER)
        rounds.consume(self.events)


def received_of(held_runs: Iterable[int]) -> Received:
    """What is on record of held runs, by primary key."""
    found: Received = {pk: {} for pk in held_runs}
    if found:
        rows = ReceivedKey.objects.filter(held_run__any=found).order_by("asset_id", "key")
        for held_run, asset_id, key, fresh in rows.values_list("held_run_id", "asset_id", "key", "is_fresh"):
            found[held_run][asset_id, key] = fresh
    return found
