"""Takes data back: a partition is wiped, an event deleted. Open held runs no longer count what is gone."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Exists, Max, OuterRef, QuerySet

from core.models import Asset, AssetEvent, ConsumedEvent, Dag, HeldRun, MappingProblem, Partition, ReceivedKey
from scheduling import doorbell, holds, journal, rounds, states
from scheduling.algebra.errors import PartitionError
from scheduling.doorbell import Bell
from scheduling.journal import Deed
from scheduling.listening import UNKEYED

Answer = TypeVar("Answer")


class NeverSeen(PartitionError):
    """Nothing is known of a partition of that key."""


class EventConsumed(PartitionError):
    """A run has consumed the event: it stays on record."""


class _Overtaken(Exception):
    """What is wiped is being mapped or counted by now: begin anew."""


def wipe(asset: Asset, keys: Sequence[str], *, deed: Deed, at: datetime) -> list[str]:
    """The partitions have no data any more; their events stay, as history. Returns the keys that had some.

    What was said of them and nobody has mapped yet is void. What fired stays fired.

    :raises NeverSeen: if nothing is known of one of `keys`; then none is wiped.
    """
    keys = sorted(set(keys))
    had = _until_not_overtaken(lambda: _wipe(asset, keys, deed, at))
    _uncount_lost(asset, keys, at)
    return had


def delete_event(event: AssetEvent, *, deed: Deed, at: datetime) -> None:
    """Take `event` back: its partition is as the event before left it, or without data.

    :raises EventConsumed: if a run has consumed it.
    """
    _until_not_overtaken(lambda: _delete_event(event, deed, at))
    _uncount_lost(event.asset, [event.partition_key or UNKEYED], at)


def _until_not_overtaken(act: Callable[[], Answer]) -> Answer:
    refused = 0
    while True:
        try:
            with transaction.atomic():
                return act()
        except _Overtaken:
            continue
        except IntegrityError:  # a held run has counted what is deleted, and nobody could see the other
            refused += 1
            if refused > holds.MOST_REFUSED:
                raise


@transaction.atomic
def _uncount_lost(asset: Asset, keys: Sequence[str], at: datetime) -> None:
    """Held runs opened meanwhile may have counted what is gone since: neither could see the other."""
    _judge_again(rounds.drop_lost(_lock_counting(asset, keys)), at)


def _delete_event(event: AssetEvent, deed: Deed, at: datetime) -> None:
    """Locks as `_wipe` does.

    :raises _Overtaken: if a held run has counted it in between.
    """
    asset, key = event.asset, event.partition_key
    _lock_events(AssetEvent.objects.filter(pk=event.pk))
    rows = _lock_counting(asset, [key or UNKEYED])
    consumed = ConsumedEvent.objects.filter(event=event, held_run__state=HeldRun.State.FIRED)
    if run := consumed.values_list("held_run__run__run_id", flat=True).first():
        raise EventConsumed(f"run {run} has consumed event {event.pk}: it cannot be deleted")
    journal.note("asset event deleted", deed=deed, at=at, about=event.asset, key=event.partition_key)
    newest = _newest_counted(rows, asset, key)
    without = [pk for pk in rows if newest.get(pk) == event.pk]
    if key is not None and Partition.objects.filter(last_event=event).exists():
        _go_back(event, at)
    counting = ConsumedEvent.objects.filter(event=event)
    unseen = counting.exclude(held_run__in=rows)
    if unseen.filter(held_run__state__in=[HeldRun.State.HELD, HeldRun.State.FIRED]).exists():
        raise _Overtaken
    counting.delete()
    AssetEvent.objects.filter(pk=event.pk).delete()
    _count_what_is_left(without, asset, key)
    _judge_again(rows, at)
    if key is None:
        holds.judge_again(list(Dag.objects.filter(dependencies__asset=asset)), at=at)


def _wipe(asset: Asset, keys: list[str], deed: Deed, at: datetime) -> list[str]:
    """Locks events, held runs and partitions in this order, as whoever maps events does.

    :raises _Overtaken: if an event came in between. Nobody who has the others locked may wait for it.
    """
    known = dict(Partition.objects.filter(asset=asset, key__in=keys).values_list("key", "data_at"))
    if unknown := [key for key in keys if key not in known]:
        raise NeverSeen(f"nothing is known of partition {unknown[0]!r} of {asset}: nothing was wiped")
    unrouted = AssetEvent.objects.unrouted().filter(asset=asset, partition_key__in=keys)
    events = _lock_events(unrouted)
    rows = _lock_counting(asset, keys)
    states.take_data(asset, keys, at)  # nobody records an event of these keys from here on
    counting = _counting(asset, keys).exclude(pk__in=rows)
    if unrouted.exclude(pk__in=events).exists() or counting.exists():
        raise _Overtaken
    AssetEvent.objects.filter(pk__in=events).update(routed_at=at)
    MappingProblem.objects.filter(event__asset=asset, event__partition_key__in=keys).delete()
    rounds.uncount(rows, asset, keys)
    _judge_again(rows, at)
    for key in keys:
        journal.note("partition wiped", deed=deed, at=at, about=asset, key=key)
    return [key for key in keys if known[key]]


def _lock_events(events: QuerySet[AssetEvent]) -> list[int]:
    """Waits for who is mapping them; nobody maps them until this transaction ends. Their primary keys."""
    return list(events.order_by("pk").select_for_update(no_key=True).values_list("pk", flat=True))


def _lock_counting(asset: Asset, keys: Sequence[str]) -> list[int]:
    """The open held runs that have counted one of `keys`, locked in the order everybody locks them."""
    rows = _counting(asset, keys).order_by("dag_id", "partition_key")
    return list(rows.select_for_update(no_key=True).values_list("pk", flat=True))


def _counting(asset: Asset, keys: Sequence[str]) -> QuerySet[HeldRun]:
    counting = ReceivedKey.objects.filter(held_run=OuterRef("pk"), asset=asset, key__in=keys)
    return HeldRun.objects.held().filter(Exists(counting))


def _judge_again(rows: Collection[int], at: datetime) -> None:
    if HeldRun.objects.filter(pk__in=rows).update(judge_after=at):
        doorbell.ring(Bell.JUDGE)


def _newest_counted(rows: Collection[int], asset: Asset, key: str | None) -> dict[int, int]:
    """By held run, the newest event of that key that it has counted; primary keys."""
    consumed = ConsumedEvent.objects.filter(held_run__in=rows, event__asset=asset, event__partition_key=key)
    return dict(consumed.values_list("held_run").annotate(Max("event")))


def _go_back(event: AssetEvent, at: datetime) -> None:
    """The partition is as the event before says; without one, it has no data."""
    asset, key = event.asset, event.partition_key
    before = AssetEvent.objects.filter(asset=asset, partition_key=key).exclude(pk=event.pk)
    if last := before.order_by("-id").first():
        Partition.objects.filter(asset=asset, key=key).update(
            data_at=last.timestamp, last_event=last, extra=last.extra, updated_at=at
        )
    else:
        states.take_data(asset, [key or UNKEYED], at)


def _count_what_is_left(rows: Collection[int], asset: Asset, key: str | None) -> None:
    """`rows` have lost the newest event of that key: they count it by the one before, or no longer."""
    keyed = list(HeldRun.objects.filter(pk__in=rows).exclude(partition_key=UNKEYED))
    last = (
        Partition.objects.filter(asset=asset, key=key or UNKEYED).values_list("last_event", flat=True).first()
    )
    if last:
        rounds.consume((row.pk, last) for row in keyed)
        spent = {held_run for held_run, _ in rounds.consumed_before(keyed, [last])}
        received = ReceivedKey.objects.filter(held_run__in=spent, asset=asset, key=key)
        received.update(is_fresh=False)
    left = _newest_counted(rows, asset, key)
    rounds.uncount([pk for pk in rows if pk not in left], asset, [key or UNKEYED])
