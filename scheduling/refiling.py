"""Moves what open held runs have received to the keys that it maps to now that their Dag listens otherwise.

1. Each received key is mapped anew. What maps to its held run still stays there.
2. What maps elsewhere is counted there, with the event by which it came, and taken away where it was.
3. A held run that has nothing left is superseded. One that stays counts what is there of what it requires.

What has fired stays fired: only keys counted in open held runs move.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from core import locks
from core.models import AssetEvent, ConsumedEvent, Dag, HeldRun, Partition, ReceivedKey
from scheduling import filing, journal, listening
from scheduling.journal import Deed
from scheduling.listening import UNKEYED, BrokenDefinition, DagListening
from scheduling.mapping import Arrival

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Move:
    """A received key, the downstream keys it maps to now, and whether one of them is its held run's own."""

    received: ReceivedKey
    to: tuple[str, ...]

    @property
    def stays(self) -> bool:
        return self.received.held_run.partition_key in self.to


@transaction.atomic
def refile(dag: Dag, *, deed: Deed, at: datetime) -> int:
    """File anew what the open held runs of `dag` have received; how many of them were superseded."""
    locks.hold_listening(dag.pk)
    heard = listening.of_dags([dag])[dag.pk]
    if isinstance(heard, BrokenDefinition):
        return 0
    open_runs = HeldRun.objects.held().filter(dag=dag).order_by("partition_key")
    rows = {row.pk: row for row in open_runs.select_for_update(no_key=True, of=("self",))}
    received = ReceivedKey.objects.filter(held_run__in=rows).order_by("pk")
    moves = [Move(each, _downstream(heard, each)) for each in _joined(received, rows)]
    superseded = _leave(moves, rows.keys(), deed, at)
    _arrive(filing.uncounted(list(_arrivals(dag, moves))), at)
    if superseded:
        journal.note("held runs filed anew", deed=deed, at=at, about=dag, superseded=len(superseded))
    return len(superseded)


def _joined(received: Iterable[ReceivedKey], rows: dict[int, HeldRun]) -> Iterator[ReceivedKey]:
    for each in received:
        each.held_run = rows[each.held_run_id]
        yield each


def _downstream(heard: DagListening, received: ReceivedKey) -> tuple[str, ...]:
    """Where the key belongs now: nowhere, if the Dag listens to its asset no more or cannot read it."""
    takes = heard.takes_keyless if received.key == UNKEYED else heard.takes_keys
    if received.asset_id not in heard.leaf_of or not takes:
        return ()
    try:
        return heard.mapper(received.asset_id).to_downstream(received.key)
    except Exception:  # a plug-in's mapper may raise anything; its next event will show it as a problem
        log.info("%s cannot map %r any more", heard.leaf_of[received.asset_id].words(), received.key)
        return ()


def _leave(moves: Sequence[Move], pks: Collection[int], deed: Deed, at: datetime) -> Collection[int]:
    """Take keys, and the events that brought them, from where they do not belong; close what is empty."""
    gone = [move.received for move in moves if not move.stays]
    ReceivedKey.objects.filter(pk__in=[each.pk for each in gone]).delete()
    by_asset: dict[tuple[int, int], list[str]] = defaultdict(list)
    for each in gone:
        by_asset[each.held_run_id, each.asset_id].append(each.key)
    for (held_run_id, asset_id), keys in by_asset.items():
        consumed = ConsumedEvent.objects.filter(held_run_id=held_run_id, event__asset_id=asset_id)
        consumed.filter(event__partition_key__in=keys).delete()
    empty = set(pks) - {move.received.held_run_id for move in moves if move.stays}
    HeldRun.objects.filter(pk__in=empty).update(
        state=HeldRun.State.SUPERSEDED, closed_at=at, closed_by=deed.by, judge_after=None
    )
    return empty


def _arrive(arrivals: Sequence[Arrival], at: datetime) -> None:
    """Count them, in held runs that look again at what is there already."""
    if arrivals:
        keys = {arrival.key for arrival in arrivals}
        HeldRun.objects.held().filter(dag=arrivals[0].dag, partition_key__in=keys).update(filled_at=None)
        filing.file(arrivals, at)


def _arrivals(dag: Dag, moves: Sequence[Move]) -> Iterator[Arrival]:
    """What is to be counted: each key that has moved and, so that it is looked at, one that stays."""
    events = _events(move.received for move in moves)
    looked_at: set[int] = set()
    for move in moves:
        received, own = move.received, move.received.held_run.partition_key
        event = events.get((received.asset_id, received.key))
        if event is None:
            continue
        yield from (Arrival(dag, key, event) for key in move.to if key != own)
        if move.stays and received.is_fresh and received.held_run_id not in looked_at:
            looked_at.add(received.held_run_id)
            yield Arrival(dag, own, event)


def _events(received: Iterable[ReceivedKey]) -> dict[tuple[int, str], AssetEvent]:
    """The event by which each key came last, by asset and key."""
    keys: dict[int, set[str]] = defaultdict(set)
    for each in received:
        keys[each.asset_id].add(each.key)
    return {
        (part.asset_id, part.key): part.last_event
        for asset_id, wanted in keys.items()
        for part in Partition.objects.filter(asset_id=asset_id, key__in=wanted).select_related("last_event")
        if part.last_event is not None
    }
