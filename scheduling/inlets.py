"""The events a task may read: `inlet_events[asset][-1].extra`."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, overload

from django.db.models import QuerySet

from core.models import Asset, AssetEvent, DagRun
from scheduling.algebra.conditions import AssetRef, Leaf
from scheduling.algebra.errors import PartitionError


class NoSuchAsset(PartitionError, KeyError):
    """A task asks for the events of something that is not defined."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True, slots=True)
class InletEvent:
    """One event as a task sees it."""

    partition_key: str | None
    partition_date: datetime | None
    timestamp: datetime
    source: str
    extra: Mapping[str, Any] = field(default_factory=dict)


class Events(Sequence[InletEvent]):
    """The events of one asset, oldest first. Each look is a query; none reads more than it is asked for."""

    def __init__(self, rows: QuerySet[AssetEvent]) -> None:
        self._rows = rows.order_by("id")

    def __len__(self) -> int:
        return self._rows.count()

    @overload
    def __getitem__(self, place: int) -> InletEvent: ...

    @overload
    def __getitem__(self, place: slice) -> list[InletEvent]: ...

    def __getitem__(self, place: int | slice) -> InletEvent | list[InletEvent]:
        if isinstance(place, slice):
            return self._slice(place)
        rows = self._rows if place >= 0 else self._rows.reverse()
        offset = place if place >= 0 else -place - 1
        found = list(rows[offset : offset + 1])
        if not found:
            raise IndexError(f"there are only {len(self)} events")
        return _event(found[0])

    def __iter__(self) -> Iterator[InletEvent]:
        return map(_event, self._rows.iterator(chunk_size=1000))

    def _slice(self, place: slice) -> list[InletEvent]:
        start, stop, step = place.indices(len(self))
        if step < 0:
            return list(self)[place]
        return [_event(row) for row in self._rows[start : max(start, stop)]][::step]


class EventsByAsset(Mapping[Leaf, Events]):
    """`events[asset]`, for an asset, a reference to one, or a name, among `rows`."""

    def __init__(self, rows: QuerySet[AssetEvent]) -> None:
        self._rows = rows

    def __getitem__(self, asset: Leaf | str) -> Events:
        return Events(self._rows.filter(asset=_row(asset)))

    def __iter__(self) -> Iterator[Any]:
        return iter(Asset.objects.filter(events__in=self._rows).distinct().values_list("name", flat=True))

    def __len__(self) -> int:
        return len(list(iter(self)))


def inlet_events() -> EventsByAsset:
    """All events of each asset."""
    return EventsByAsset(AssetEvent.objects.all())


def triggering_events(run: DagRun) -> EventsByAsset:
    """The events that the run consumes."""
    return EventsByAsset(AssetEvent.objects.consumed_by(run.pk))


def _row(asset: Leaf | str) -> Asset:
    named = {"name": asset if isinstance(asset, str) else asset.name}
    if isinstance(asset, AssetRef) and asset.uri:
        named = {"uri": asset.uri}
    row = Asset.objects.filter(**named).order_by("-is_active", "pk").first()
    if row is None:
        [(attribute, value)] = named.items()
        raise NoSuchAsset(f"there is no asset with the {attribute} {value!r}")
    return row


def _event(row: AssetEvent) -> InletEvent:
    return InletEvent(row.partition_key, row.partition_date, row.timestamp, row.source, row.extra)
