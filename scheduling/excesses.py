"""What an event means whose key maps to more downstream keys than are allowed: it opens nothing.

1. Its data is data: it counts for held runs of those keys that are open, and for those opened later.
2. Whatever was made of an older event of its key is stale, as it would be for any other newer event.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence

from core.models import Partition, ReceivedKey
from scheduling import rounds
from scheduling.mapping import Arrival, Excess
from scheduling.rounds import Name


def names(excesses: Iterable[Excess]) -> set[Name]:
    """What `excesses` would open held runs of, if they were not too many."""
    return {(each.dag.pk, key) for each in excesses for key in each.keys}


def arrivals(excesses: Sequence[Excess], opened: Collection[Name]) -> list[Arrival]:
    """`excesses` as arrivals for the held runs of names that are `opened`.

    An event that is not the newest of its partition means nothing here: the newest one counts.
    """
    found = [each for each in _named(excesses) if (each.dag.pk, each.key) in opened]
    if not found:
        return []
    newest = Partition.objects.filter(last_event__in={each.event.pk for each in found}, data_at__isnull=False)
    newest_events = set(newest.values_list("last_event", flat=True))
    return rounds.uncounted([each for each in found if each.event.pk in newest_events])


def outdated(excesses: Sequence[Excess], opened: Collection[Name]) -> list[Name]:
    """Names that are not `opened`, and whose last run has consumed an older event of the same key."""
    coming = [each for each in _named(excesses) if (each.dag.pk, each.key) not in opened]
    used = _used(coming)
    later = rounds.uncounted([each for each in coming if _place(each) in used])
    return [(each.dag.pk, each.key) for each in later]


def _named(excesses: Iterable[Excess]) -> Iterator[Arrival]:
    return (Arrival(each.dag, key, each.event) for each in excesses for key in each.keys)


Used = tuple[int, str, int, str]
"""A Dag and a downstream key; an asset and an upstream key that the last round to fire had received."""


def _place(each: Arrival) -> Used:
    return each.dag.pk, each.key, each.event.asset_id, each.event.partition_key or ""


def _used(coming: Sequence[Arrival]) -> set[Used]:
    fired = rounds.last_fired({(each.dag.pk, each.key) for each in coming})
    name_of = {pk: name for name, pk in fired.items()}
    received = ReceivedKey.objects.filter(
        held_run__any=list(name_of),
        asset__in={each.event.asset_id for each in coming},
        key__in={each.event.partition_key for each in coming},
    )
    rows = received.values_list("held_run_id", "asset_id", "key") if name_of else ()
    return {(*name_of[held_run], asset_id, key) for held_run, asset_id, key in rows}
