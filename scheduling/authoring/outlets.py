"""What a task says about the partitions it writes."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from scheduling import keeping
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.authoring.assets import Asset


class NotAnOutlet(PartitionError, KeyError):
    """An asset that the task does not declare among its outlets."""

    def __str__(self) -> str:
        return str(self.args[0])


class OutletEvent:
    """The events that a task will emit for one asset when its run succeeds.

    `extra` describes them and is never scheduled on; `keys` maps each partition key to an extra of its own.
    """

    def __init__(self) -> None:
        self.extra: dict[str, Any] = {}
        self.keys: dict[str, dict[str, Any]] = {}

    def add_partitions(self, keys: str | Iterable[str], extra: Mapping[str, Any] | None = None) -> None:
        """Name one key or several; each distinct one gets its own event.

        :param extra: describes just these partitions, on top of the `extra` of all.
        :raises InvalidKey: for a key that cannot be one.
        """
        for key in [keys] if isinstance(keys, str) else list(keys):
            self.keys.setdefault(validate_key(key), {}).update(extra or {})

    def extras(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each key with all that is said about it."""
        for key, own in self.keys.items():
            yield key, {**self.extra, **own}


class OutletEvents(Mapping[AssetLeaf, OutletEvent]):
    """`outlet_events[asset]` for each outlet of one task."""

    def __init__(self, task_id: str, outlets: Iterable[Asset]) -> None:
        self._task_id = task_id
        self._by_asset: dict[AssetLeaf, OutletEvent] = {outlet: OutletEvent() for outlet in outlets}

    def __getitem__(self, asset: AssetLeaf) -> OutletEvent:
        try:
            return self._by_asset[asset]
        except KeyError:
            declared = ", ".join(outlet.name for outlet in self._by_asset) or "none"
            raise NotAnOutlet(
                f"{asset} is not an outlet of {self._task_id}, whose outlets are: {declared}"
            ) from None

    def __iter__(self) -> Iterator[AssetLeaf]:
        return iter(self._by_asset)

    def __len__(self) -> int:
        return len(self._by_asset)

    def check(self) -> None:
        """See that everything said can be kept.

        :raises NotKept: naming the asset.
        """
        for asset, event in self._by_asset.items():
            for extra in (event.extra, *event.keys.values()):
                keeping.check(extra, f"the extra of {asset.name}")
