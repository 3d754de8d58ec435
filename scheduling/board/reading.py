"""The states of partitions as cells in order, kept until something has changed."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.models import Asset
from scheduling import dynamic
from scheduling.algebra.numbering import numbers_of
from scheduling.board import drawn, universe
from scheduling.board.cells import NOT_DEFINED, NOT_DUE, Cells, Look
from scheduling.board.defined import Defined, axis_of
from scheduling.board.drawn import Drawn, Lack
from scheduling.board.labels import label_of, places, segments_of
from scheduling.board.orders import Listed, Order
from scheduling.board.universe import MOST_KEYS, Universe

MOST_LISTED = 20_000
"""Keys of a definition that are listed, for the sake of others that have to stand among them."""

AGES = timedelta(days=3660)
"""A key that the definition has by then is not due yet."""


@dataclass(frozen=True, slots=True)
class Read:
    """The cells of an asset, and how many keys are too many to be among them.

    `listing` names the keys that are listed, if they are. `lack`: what is being drawn and not in the cells.
    """

    cells: Cells
    left_off: int
    name: Hashable
    listing: Hashable = None
    lack: Lack = Lack.NOTHING

    @property
    def weight(self) -> int:
        """What it takes in memory, in bytes, roughly."""
        listed = len(self.cells.places) if isinstance(self.cells.places, Listed) else 0
        return len(self.cells.looks) + PLACE_WEIGHT * listed


def read(assets: Sequence[Asset], *, now: datetime, patient: bool = True) -> dict[int, Read]:
    """How all partitions of `assets` look. At most ten queries, whatever there is.

    :param patient: wait for what takes long; otherwise it is said what is not shown (`Read.lack`).
    """
    expected = universe.of_assets(assets, now=now)
    looks = drawn.of_assets(assets, expected, patient=patient)
    answer: dict[int, Read] = {}
    for asset in assets:
        of_asset, found = expected[asset.pk], looks[asset.pk]
        name = (of_asset.name, of_asset.count, of_asset.is_defined, found.name)
        known = _kept.get(asset.pk)
        if known is None or known.name != name:
            known = (
                _undrawn(name)
                if found.lack is Lack.EVERYTHING
                else _read(of_asset, found.put_together(), name, known)
            )
            known = replace(known, lack=found.lack)
            _keep(asset.pk, known)
        answer[asset.pk] = known
    return answer


def outside(asset: Asset, key: str, now: datetime) -> str:
    """In which way the definition of `asset` does not have `key`, in words; empty if it does."""
    if dynamic.expects(asset, key, now):
        return ""
    return NOT_DUE if dynamic.expects(asset, key, now + AGES) else NOT_DEFINED


MOST_KEPT = 256_000_000
"""Bytes of cells that one process keeps, roughly; then it begins anew."""

PLACE_WEIGHT = 300

MOST_AXES = 500

_kept: dict[int, Read] = {}
"""The cells of each asset as they were last."""

_axes: dict[str, Defined] = {}


def _keep(asset_id: int, what: Read) -> None:
    others = sum(each.weight for pk, each in list(_kept.items()) if pk != asset_id)
    if others + what.weight > MOST_KEPT:
        _kept.clear()
    _kept[asset_id] = what


def _undrawn(name: Hashable) -> Read:
    return Read(Cells(Listed(()), b""), 0, name)


def _read(expected: Universe, found: Drawn, name: Hashable, before: Read | None) -> Read:
    if expected.is_defined:  # where a key that nobody expects has no data any more, nothing is amiss
        there = {key: look for key, look in found.loose.items() if look is not Look.MISSING}
        found = replace(found, loose=there)
    unexpected = frozenset(found.loose) if expected.is_defined else frozenset()
    early = _early(expected, unexpected)
    few = expected.count + len(found.loose) <= MOST_LISTED
    order = None if found.loose and few else _defined(expected)
    if order is None:
        left_off = found.left_off + max(0, expected.count - MOST_KEYS)
        listing = (expected.name, expected.count, tuple(found.loose))
        listed = before.cells.places if before and before.listing == listing else None
        cells = _listed(expected, found, listed)
        return Read(replace(cells, unexpected=unexpected, early=early), left_off, name, listing)
    looks = _padded(found.looks, len(order))
    return Read(Cells(order, looks, unexpected, found.loose, early), found.left_off, name)


def _defined(expected: Universe) -> Defined | None:
    """The order of the keys so far, if it is one of time; what was worked out for fewer holds for more."""
    known, axis = _axes.get(expected.name), axis_of(expected.definition)
    if axis is None or expected.definition is None:
        return None
    if known is not None and known.size == expected.count:
        return known
    made = Defined(expected.definition, axis, expected.count, expected.now)
    if known is not None and known.size < expected.count:
        made.ends = known.ends
    if len(_axes) >= MOST_AXES:
        _axes.clear()
    _axes[expected.name] = made
    return made


def _early(expected: Universe, unexpected: Collection[str]) -> frozenset[str]:
    """Keys that the definition has when their time has come, as `outside` says of each."""
    definition, now = expected.definition, expected.now
    if definition is None or now is None or not definition.grows:
        return frozenset()
    later = now + AGES
    numbers = numbers_of(definition, [key for key in unexpected if _may_come(key, now)], later)
    count = definition.count(later) if numbers else 0
    return frozenset(key for key, number in numbers.items() if number < count)


def _may_come(key: str, now: datetime) -> bool:
    """Whether the time of `key` is not long over, as far as its text tells: that is looked up much faster."""
    labels = [label for segment in segments_of(key) if (label := label_of(segment))]
    return not labels or max(labels)[:4] >= f"{now.year - 1:04}"


def _listed(expected: Universe, found: Drawn, order: Order | None) -> Cells:
    keys = expected.keys
    looks = _padded(found.looks, expected.count)[expected.count - len(keys) :]
    by_key = {**dict(zip(keys, looks, strict=True)), **found.loose}
    listed = order if isinstance(order, Listed) else _in_order((*keys, *sorted(found.loose)))
    return Cells(listed, bytes([by_key[place.key] for place in listed.listed]))


def _padded(looks: bytes, size: int) -> bytes:
    """What was never drawn is missing."""
    return looks + bytes([Look.MISSING]) * (size - len(looks))


def _in_order(keys: tuple[str, ...]) -> Listed:
    """By time where keys have one, else as given."""
    found = places(keys)
    has_time = any(place.label for place in found)
    return Listed(sorted(found, key=lambda place: place.label) if has_time else found)
