"""Keys of dynamic partitions: added and removed by people, programs and running code, and never forgotten."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.db import transaction

from core.models import Asset, DagRun, DynamicKey
from scheduling import journal
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.algebra.partitions import DynamicPartitions, Partitions
from scheduling.authoring.assets import Asset as AuthoredAsset
from scheduling.journal import Deed

Named = str | AuthoredAsset | DynamicPartitions


class NoSuchPartitions(PartitionError):
    """No asset has dynamic partitions of that name."""


def keys_of(name: str) -> tuple[str, ...]:
    """The keys there are, oldest first."""
    return tuple(DynamicKey.objects.there().filter(name=name).values_list("key", flat=True))


def known_keys_of(name: str) -> tuple[str, ...]:
    """The same.

    :raises NoSuchPartitions: if no asset has partitions of that name, and there never were any keys of it.
    """
    _shared(name)
    return keys_of(name)


def bound(definition: Partitions) -> Partitions:
    """`definition` with the keys that its dynamic partitions have. A query for each; none without any."""
    return definition.bound(keys_of)


def definition_of(spec: Any) -> Partitions:
    """The definition that an asset stores, read once, without the keys of dynamic partitions.

    :raises InvalidDefinition: if it cannot be read.
    """
    return _definition(json.dumps(spec, sort_keys=True))


def expects(asset: Asset, key: str, now: datetime) -> bool:
    """Whether `key` is one of the asset's by `now`; without a definition that can be read, any key is."""
    if not asset.partitions:
        return True
    try:
        return bound(definition_of(asset.partitions)).contains(key, now)
    except PartitionError:
        return True


def names_of(asset: Asset) -> list[str]:
    """What the dynamic partitions of this asset are called: none, one, or one for some of its dimensions."""
    return list(dict.fromkeys(_names_in(asset.partitions)))


def names() -> set[str]:
    """What the dynamic partitions of active assets are called."""
    return set(_sharing())


@transaction.atomic
def add(name: str, keys: Iterable[str], *, deed: Deed, at: datetime) -> list[str]:
    """Add keys to the dynamic partitions called `name`; those that are there already stay as they are.

    :returns: the ones that were not there.
    :raises InvalidKey: for one that cannot be a key; then none is added.
    :raises NoSuchPartitions: if no asset has partitions of that name.
    """
    wanted = [validate_key(key) for key in dict.fromkeys(keys)]
    shared = _shared(name)
    there = _there(name, wanted)
    new = [key for key in wanted if key not in there]
    # Somebody who adds the same at this moment makes it one row all the same.
    DynamicKey.objects.bulk_create(
        [DynamicKey(name=name, key=key, added_at=at, added_by=deed.by) for key in new],
        ignore_conflicts=True,
        batch_size=1000,
    )
    if new:
        _note("partition keys added", name, new, shared, deed, at)
    return new


@transaction.atomic
def remove(name: str, keys: Iterable[str], *, deed: Deed, at: datetime) -> list[str]:
    """Take keys away: their assets are not expected to have them any more. Events, runs and states stay.

    :returns: the ones that were there.
    :raises NoSuchPartitions: if there are no partitions of that name, and never were.
    """
    shared = _shared(name)
    gone = _there(name, keys)
    for start in range(0, len(gone), 1000):
        rows = DynamicKey.objects.there().filter(name=name, key__in=gone[start : start + 1000])
        rows.update(removed_at=at, removed_by=deed.by)
    if gone:
        _note("partition keys removed", name, gone, shared, deed, at)
    return gone


class DynamicKeys:
    """`dynamic_partitions` in a task: looks at keys, adds and removes them.

    That happens at once, whatever becomes of the run. Partitions are named, or given as their definition or
    an asset that has them.
    """

    def __init__(self, run: DagRun, clock: Callable[[], datetime]) -> None:
        self._deed, self._clock = Deed(by=f"run {run.run_id}"), clock

    def keys(self, partitions: Named) -> tuple[str, ...]:
        return keys_of(name_of(partitions))

    def add(self, partitions: Named, keys: str | Iterable[str]) -> list[str]:
        """:returns: the keys that were not there."""
        return add(name_of(partitions), _several(keys), deed=self._deed, at=self._clock())

    def remove(self, partitions: Named, keys: str | Iterable[str]) -> list[str]:
        """:returns: the keys that were there."""
        return remove(name_of(partitions), _several(keys), deed=self._deed, at=self._clock())


def name_of(partitions: Named) -> str:
    """What the dynamic partitions are called, given so, by their definition, or by an asset that has them.

    :raises NoSuchPartitions: if the asset has none, or several.
    """
    if isinstance(partitions, str):
        return partitions
    if isinstance(partitions, DynamicPartitions):
        return partitions.name
    if not isinstance(partitions, AuthoredAsset):
        raise NoSuchPartitions(
            f"{partitions!r} are no dynamic partitions: give DynamicPartitions(name), that name, or an asset"
        )
    names = set(_names_in(specs.dump(partitions.partitions))) if partitions.partitions else set()
    if len(names) != 1:
        raise NoSuchPartitions(f"{partitions} has {len(names)} dynamic partitions: give the name of one")
    return names.pop()


MOST_TOLD = 100
"""Keys that a journal entry names, and assets that share them; of more keys it gives the number."""


def _note(
    event: str, name: str, keys: Sequence[str], shared: Sequence[Asset], deed: Deed, at: datetime
) -> None:
    """Of partitions that several assets share it is about none of them, and names them."""
    told: dict[str, Any] = {"count": len(keys), "keys": list(keys[:MOST_TOLD])}
    if len(shared) > 1:
        told["assets"] = [asset.name for asset in shared[:MOST_TOLD]]
    about = shared[0] if len(shared) == 1 else None
    journal.note(event, deed=deed, at=at, about=about, partitions=name, **told)


def _sharing() -> dict[str, list[Asset]]:
    """The active assets that have the dynamic partitions of each name."""
    found: dict[str, list[Asset]] = {}
    for asset in Asset.objects.active().filter(partitions__isnull=False).order_by("name"):
        for name in names_of(asset):
            found.setdefault(name, []).append(asset)
    return found


def _there(name: str, keys: Iterable[str]) -> list[str]:
    wanted = list(dict.fromkeys(keys))
    found: list[str] = []
    for start in range(0, len(wanted), 1000):
        rows = DynamicKey.objects.there().filter(name=name, key__in=wanted[start : start + 1000])
        found += rows.values_list("key", flat=True)
    return found


def _shared(name: str) -> list[Asset]:
    """The assets that have the partitions called `name`: none, if those that had them are gone.

    :raises NoSuchPartitions: if there are no partitions of that name, and never were.
    """
    known = _sharing()
    if name not in known and not DynamicKey.objects.filter(name=name).exists():
        there = f"there are {', '.join(sorted(known))}" if known else "no asset has any"
        raise NoSuchPartitions(f"no dynamic partitions are called {name!r}: {there}")
    return known.get(name, [])


def _several(keys: str | Iterable[str]) -> list[str]:
    return [keys] if isinstance(keys, str) else list(keys)


@lru_cache(maxsize=256)
def _definition(spec: str) -> Partitions:
    definition: Partitions = specs.load(json.loads(spec), "partitions")
    return definition


def _names_in(spec: Any) -> Iterable[str]:
    """The names of dynamic partitions anywhere in a spec."""
    if isinstance(spec, dict):
        if spec.get("type") == "DynamicPartitions" and isinstance(spec.get("name"), str):
            yield spec["name"]
        for each in spec.values():
            yield from _names_in(each)
    elif isinstance(spec, list):
        for each in spec:
            yield from _names_in(each)
