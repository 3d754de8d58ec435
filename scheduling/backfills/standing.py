"""How the keys of a Dag stand: has each data, how did its last attempt end, is anything under way?"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from core.models import BackfillPartition, Dag, DagRun, Outlet, Partition
from scheduling.backfills.asking import Reprocess, Wanted

MANY = 20_000
"""From so many keys on, all that is on record is read instead of asking about each."""

PORTION = 5000
"""Keys that are asked about in one query."""

IS_THERE = "it has data"
"""Why a key is left out that is to run only if it has none."""

Attempt = Partition.Attempt


@dataclass(frozen=True, slots=True)
class Standing:
    """What is on record of one key, over all assets that its Dag writes."""

    is_there: bool = False
    failed: bool = False
    is_stale: bool = False

    def is_wanted(self, wanted: Wanted) -> bool:
        missing = not (self.is_there or self.failed)
        return {
            Wanted.ALL: True,
            Wanted.MISSING: missing,
            Wanted.FAILED: self.failed,
            Wanted.FAILED_AND_MISSING: self.failed or missing,
            Wanted.STALE: self.is_stale,
        }[wanted]

    def why_not(self, again: Reprocess) -> str:
        """Why the key does not run, empty if it does."""
        if self.failed and again is Reprocess.NONE:
            return "its last attempt failed, and failed ones do not run again"
        if self.is_there and not self.failed and again is not Reprocess.COMPLETED:
            return IS_THERE
        return ""


NOTHING = Standing()


@dataclass(frozen=True, slots=True)
class Standings:
    """`by_key` leaves out keys of which nothing is on record; `active` says what is at work on one."""

    by_key: Mapping[str, Standing] = field(default_factory=dict)
    active: Mapping[str, str] = field(default_factory=dict)

    def wanted(self, keys: Iterable[str], wanted: Wanted) -> list[str]:
        """Those of `keys` that are in the wanted state; none that something is at work on."""
        return [
            key for key in keys if self.by_key.get(key, NOTHING).is_wanted(wanted) and key not in self.active
        ]

    def skipped(self, keys: Container[str], again: Reprocess) -> dict[str, str]:
        """Those of `keys` that do not run, each with the reason. Only keys on record are looked at."""
        reasons = {key: f"it is in progress: {what}" for key, what in self.active.items() if key in keys}
        for key, stands in self.by_key.items():
            if key in keys and key not in reasons and (reason := stands.why_not(again)):
                reasons[key] = reason
        return reasons


def of_keys(dag: Dag, keys: Sequence[str]) -> Standings:
    """How each of `keys` stands. A few queries for each portion of them, and for many keys a few at all."""
    asset_ids = set(Outlet.objects.filter(dag=dag).values_list("asset_id", flat=True))
    by_key = _by_partitions(asset_ids, keys) if asset_ids else _by_runs(dag, keys)
    return Standings(by_key, _active(dag, keys))


def _by_partitions(asset_ids: set[int], keys: Sequence[str]) -> dict[str, Standing]:
    """A key has data if every asset has its partition; it failed if it failed for one of them."""
    is_there = ExpressionWrapper(Q(data_at__isnull=False), output_field=BooleanField())
    rows = Partition.objects.filter(asset_id__in=asset_ids).annotate(is_there=is_there)
    names = ("is_there", "attempt", "is_stale")
    if len(asset_ids) == 1:
        return {key: _standing(*facts) for key, *facts in _of(rows, "key", keys, *names)}
    several: dict[str, list[Standing]] = {}
    for key, *facts in _of(rows, "key", keys, *names):
        several.setdefault(key, []).append(_standing(*facts))
    return {key: _together(found, len(asset_ids)) for key, found in several.items()}


_ALL = {
    (data, failed, stale): Standing(data, failed, stale)
    for data in (False, True)
    for failed in (False, True)
    for stale in (False, True)
}


def _standing(is_there: bool, attempt: str, is_stale: bool) -> Standing:
    return _ALL[bool(is_there), attempt == Attempt.FAILED, bool(is_stale)]


def _together(found: Sequence[Standing], assets: int) -> Standing:
    data = len(found) == assets and all(each.is_there for each in found)
    return _ALL[data, any(each.failed for each in found), any(each.is_stale for each in found)]


def _by_runs(dag: Dag, keys: Sequence[str]) -> dict[str, Standing]:
    """Of a Dag that writes nothing: how its last run of each key ended."""
    rows = DagRun.objects.filter(dag=dag, state__in=[DagRun.State.SUCCESS, DagRun.State.FAILED])
    rows = rows.filter(partition_key__isnull=False).order_by("pk")
    last = dict(_of(rows, "partition_key", keys, "state"))
    ranged = BackfillPartition.objects.filter(target__dag=dag, run__partition_keys__isnull=False)
    ended = ranged.filter(state__in=[BackfillPartition.State.DONE, BackfillPartition.State.FAILED])
    for key, state in _of(ended.order_by("run_id"), "key", keys, "state"):
        last[key] = DagRun.State.FAILED if state == BackfillPartition.State.FAILED else DagRun.State.SUCCESS
    return {
        str(key): _ALL[state == DagRun.State.SUCCESS, state == DagRun.State.FAILED, False]
        for key, state in last.items()
    }


def _active(dag: Dag, keys: Sequence[str]) -> dict[str, str]:
    """What is at work on the keys of a Dag: runs that have not ended, backfills that have them ahead."""
    active: dict[str, str] = {}
    ahead = BackfillPartition.objects.open().filter(target__dag=dag, target__backfill__completed_at=None)
    for key, backfill_id in _of(ahead, "key", keys, "target__backfill_id"):
        active[key] = f"backfill {backfill_id}"
    unended = DagRun.objects.filter(dag=dag, state__in=[DagRun.State.QUEUED, DagRun.State.RUNNING])
    for run in unended.only("run_id", "partition_key", "partition_keys").iterator():
        active |= dict.fromkeys(run.keys, f"run {run.run_id}")
    return active


def _of(rows: QuerySet[Any], column: str, keys: Sequence[str], *names: str) -> Iterator[tuple[Any, ...]]:
    """The key and the `names` of all rows that are of one of `keys`, and of others if those are many."""
    if len(keys) >= MANY:
        yield from rows.values_list(column, *names).iterator(chunk_size=10_000)
        return
    for start in range(0, len(keys), PORTION):
        part = rows.filter(**{f"{column}__any": keys[start : start + PORTION]})
        yield from part.values_list(column, *names)
