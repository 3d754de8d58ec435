"""How every partition of an asset looks, from its drawing and from what the drawing does not show yet.

A drawing holds one byte for each key (`core.models.drawings`) and is brought up to date behind the writers
(`scheduling.drawings`). Partitions and held runs that it does not show as they are can be found by an index
of these alone, and their looks are put over it. So what is read here is exact at every moment, and costs what
has changed since the last drawing, not what there is. An asset that has no drawing, or one of another
definition, is read row by row: that is right, too, and slow where there are very many.

The order of the reads matters. What a drawing lacks is read before its blocks: when it is drawn in between,
it is there twice, which does no harm. The other way round it could be missed.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial, reduce
from itertools import islice
from operator import or_
from uuid import UUID

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, Value, When

from core.models import Asset, Dag, Drawing, DrawnBlock, HeldRun, Partition
from core.models.drawings import BLOCK
from scheduling.algebra.numbering import numbers_of
from scheduling.board.cells import Look
from scheduling.board.universe import MOST_KEYS, Universe

GONE = 6
"""The byte of a loose key that was held and is not any more."""

MOST_PATCHES = 20_000
"""Keys that are put over a drawing one by one; where more have changed everything is read."""

MOST_READ = 5000
"""Partitions of an asset without a drawing that are read row by row where there is no time for more."""

PORTION = 5000
"""Keys in one statement: SQLite takes 32,766 values, and not more."""

TRIES = 5
"""Looks at blocks that somebody draws meanwhile."""

MOST_KEPT = 64_000_000
"""Bytes of blocks that one process keeps, roughly; then it begins anew."""

KEY_WEIGHT = 100
"""What a kept key takes, roughly."""

Facts = dict[str, Look | None]
"""How keys look now; none for those of which there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One byte for each numbered key as far as any was drawn: all beyond are missing; and the loose keys.

    `left_off` counts loose keys that are too many.
    """

    looks: bytes
    loose: Mapping[str, Look]
    left_off: int = 0


@dataclass(frozen=True, slots=True)
class _Content:
    """What is in a block of one edition; `keys` of a loose one."""

    edition: UUID
    looks: bytes
    keys: tuple[str, ...]

    @property
    def weight(self) -> int:
        return len(self.looks) + KEY_WEIGHT * len(self.keys)


_kept: dict[int, _Content] = {}
"""The blocks that this process has seen, each as it was last, by primary key."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A block as its drawing has it now."""

    pk: int
    number: int
    is_loose: bool
    edition: UUID


@dataclass(frozen=True, slots=True)
class _Block:
    number: int
    is_loose: bool
    content: _Content


class Lack(StrEnum):
    """What is not shown of an asset, because it takes longer than there is time for and is being drawn."""

    NOTHING = ""
    CHANGES = "changes"
    EVERYTHING = "everything"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of an asset; `name` differs whenever what it comes to does."""

    name: Hashable
    put_together: Callable[[], Drawn]
    lack: Lack = Lack.NOTHING


def of_assets(
    assets: Sequence[Asset], expected: Mapping[int, Universe], *, patient: bool = True
) -> dict[int, Found]:
    """How the partitions of each asset look. Nine queries, and two for each portion of keys not drawn."""
    stands = _stands(assets, expected)
    drawn, overfull, large = (
        {pk for pk, each in stands.items() if getattr(each, name)}
        for name in ("is_drawn", "is_overfull", "is_large")
    )
    behind = set() if patient else drawn & overfull
    patches = _undrawn(drawn - overfull)
    everything = stands.keys() - drawn | (overfull - behind)
    blocks = _blocks(drawn - everything, expected)
    vanished = drawn - everything - blocks.keys()  # somebody makes it anew at this moment
    lacks = dict.fromkeys(behind, Lack.CHANGES)
    if not patient:
        lacks |= dict.fromkeys(everything & large | vanished, Lack.EVERYTHING)
    if read := {pk for pk in everything | vanished if pk not in lacks}:
        patches |= _all_facts(read)
    return {
        asset.pk: _found(
            expected[asset.pk],
            blocks.get(asset.pk, ()),
            patches.get(asset.pk, {}),
            lacks.get(asset.pk, Lack.NOTHING),
        )
        for asset in assets
    }


@dataclass(frozen=True, slots=True)
class _Stand:
    """How the drawing of an asset stands. It may be there with too many changes to tell them key by key.

    `is_large` is told where it is not: there are too many partitions to read them row by row.
    """

    is_drawn: bool
    is_overfull: bool
    is_large: bool


def _stands(assets: Sequence[Asset], expected: Mapping[int, Universe]) -> dict[int, _Stand]:
    """How the drawings stand. Nothing is counted: it is asked whether there is one more than so many."""
    parts = Partition.objects.filter(asset=OuterRef("pk")).order_by().values("asset")
    undrawn = parts.filter(is_undrawn=True)[MOST_PATCHES : MOST_PATCHES + 1]
    every = parts[MOST_READ : MOST_READ + 1]
    names = [expected[asset.pk].name for asset in assets]
    rows = (
        Asset.objects.filter(pk__in=[asset.pk for asset in assets])
        .order_by()
        .values_list(
            "pk",
            "drawing__name",
            Subquery(undrawn),
            Case(When(drawing__name__in=names, then=Value(None)), default=Subquery(every)),
        )
    )
    crowded = _crowded(frozenset().union(*(expected[asset.pk].writers for asset in assets)))
    return {
        pk: _Stand(
            is_drawn=name == expected[pk].name,
            is_overfull=undrawn is not None or not crowded.isdisjoint(expected[pk].writers),
            is_large=large is not None,
        )
        for pk, name, undrawn, large in rows
    }


def _crowded(dag_ids: Collection[int]) -> set[int]:
    """Those Dags of which too many held runs have come or gone."""
    if not dag_ids:
        return set()
    held = HeldRun.objects.filter(dag=OuterRef("pk"), is_undrawn=True).order_by().values("dag")
    one_more = Subquery(held[MOST_PATCHES : MOST_PATCHES + 1])
    rows = Dag.objects.filter(pk__in=dag_ids).order_by().values_list("pk", one_more)
    return {pk for pk, more in rows if more is not None}


def _undrawn(asset_ids: set[int]) -> dict[int, Facts]:
    """What drawings do not show yet."""
    patches: dict[int, Facts] = defaultdict(dict)
    if not asset_ids:
        return patches
    rows = Partition.objects.filter(asset__in=asset_ids, is_undrawn=True)
    for asset_id, key, look in _looks(rows):
        patches[asset_id][key] = look
    held = HeldRun.objects.filter(dag__outlets__asset__in=asset_ids, is_undrawn=True)
    several: dict[int, set[str]] = defaultdict(set)
    for asset_id, key in set(held.values_list("dag__outlets__asset", "partition_key")):
        if asset_id in asset_ids and key:
            several[asset_id].add(key)
    _add_touched(patches, several)
    _hold(patches)
    return patches


def _add_touched(patches: dict[int, Facts], touched: Mapping[int, set[str]]) -> None:
    """The looks of keys whose held runs have changed."""
    left = {asset_id: keys - patches[asset_id].keys() for asset_id, keys in touched.items()}
    for asset_id, keys in left.items():
        patches[asset_id] |= dict.fromkeys(keys)
    for some in _portions(left):
        wanted = _any_of(Q(asset_id=asset_id, key__in=keys) for asset_id, keys in some.items())
        for asset_id, key, look in _looks(Partition.objects.filter(wanted)):
            patches[asset_id][key] = look


def _hold(patches: dict[int, Facts]) -> None:
    """Missing keys for which a run is held look held."""
    missing = {
        asset_id: [key for key, look in facts.items() if look in (None, Look.MISSING)]
        for asset_id, facts in patches.items()
    }
    for some in _portions(missing):
        parts = (Q(dag__outlets__asset=pk, partition_key__in=keys) for pk, keys in some.items())
        rows = HeldRun.objects.held().filter(_any_of(parts))
        for asset_id, key in rows.values_list("dag__outlets__asset", "partition_key"):
            if asset_id in patches and patches[asset_id].get(key, Look.FAILED) in (None, Look.MISSING):
                patches[asset_id][key] = Look.HELD


def _portions(wanted: Mapping[int, Collection[str]]) -> Iterator[Mapping[int, Sequence[str]]]:
    """The same keys by asset, `PORTION` at a time, whatever asset they are of."""
    pairs = [(asset_id, key) for asset_id, keys in wanted.items() for key in keys]
    for start in range(0, len(pairs), PORTION):
        some: dict[int, list[str]] = defaultdict(list)
        for asset_id, key in pairs[start : start + PORTION]:
            some[asset_id].append(key)
        yield some


def _any_of(parts: Iterable[Q]) -> Q:
    return reduce(or_, parts)


def _all_facts(asset_ids: set[int]) -> dict[int, Facts]:
    found: dict[int, Facts] = {asset_id: {} for asset_id in asset_ids}
    rows = Partition.objects.filter(asset__in=asset_ids)
    for asset_id, key, look in _looks(rows.order_by("asset_id", "partition_date", "key")):
        found[asset_id][key] = look
    held = HeldRun.objects.held().filter(dag__outlets__asset__in=asset_ids).exclude(partition_key="")
    pairs = held.order_by("pk").values_list("dag__outlets__asset", "partition_key")
    for asset_id, key in pairs:
        if asset_id in found and found[asset_id].get(key) in (None, Look.MISSING):
            found[asset_id][key] = Look.HELD
    return found


def _looks(rows: QuerySet[Partition]) -> list[tuple[int, str, Look]]:
    found = rows.values_list("asset_id", "key", "state", "is_stale")
    return [(asset_id, key, LOOKS[state, is_stale]) for asset_id, key, state, is_stale in found]


LOOKS = {
    (state, is_stale): Look.STALE if is_stale and state == "materialized" else Look[state.upper()]
    for state in Partition.State.values
    for is_stale in (False, True)
}


def _blocks(asset_ids: set[int], expected: Mapping[int, Universe]) -> dict[int, list[_Block]]:
    """The blocks of each drawing; none of one that has been made anew for another definition meanwhile."""
    for _ in range(TRIES):
        names = _editions(asset_ids, expected)
        known = _contents([name for blocks in names.values() for name in blocks])
        if known is not None:
            return {
                asset_id: [_Block(name.number, name.is_loose, known[name.pk]) for name in blocks]
                for asset_id, blocks in names.items()
            }
    return {}


def _editions(asset_ids: set[int], expected: Mapping[int, Universe]) -> dict[int, list[_Name]]:
    found: dict[int, list[_Name]] = {}
    if not asset_ids:
        return found
    rows = Drawing.objects.filter(asset__in=asset_ids).annotate(
        block=F("blocks__pk"),
        number=F("blocks__number"),
        is_loose=F("blocks__is_loose"),
        edition=F("blocks__edition"),
    )
    fields = ("asset_id", "name", "block", "number", "is_loose", "edition")
    for asset_id, name, *block in rows.values_list(*fields):
        if name == expected[asset_id].name:
            blocks = found.setdefault(asset_id, [])
            if block[0] is not None:
                blocks.append(_Name(*block))
    return found


def _contents(names: Sequence[_Name]) -> dict[int, _Content] | None:
    """What is in these blocks, read where this process has not seen it; none if one has been drawn again."""
    known = {name.pk: kept for name in names if (kept := _kept.get(name.pk)) and kept.edition == name.edition}
    unseen = [name.pk for name in names if name.pk not in known]
    rows = DrawnBlock.objects.filter(pk__in=unseen) if unseen else DrawnBlock.objects.none()
    for pk, edition, looks, keys in rows.values_list("pk", "edition", "looks", "keys"):
        known[pk] = _Content(edition, bytes(looks), tuple(keys.split("\n")) if keys else ())
    if unseen:
        _keep({pk: known[pk] for pk in unseen if pk in known})
    return (
        known if all(name.pk in known and known[name.pk].edition == name.edition for name in names) else None
    )


def _keep(new: Mapping[int, _Content]) -> None:
    weight = sum(each.weight for each in list(_kept.values())) + sum(each.weight for each in new.values())
    if weight > MOST_KEPT:
        _kept.clear()
    _kept.update(new)


def _found(expected: Universe, blocks: Sequence[_Block], patch: Facts, lack: Lack) -> Found:
    if lack is Lack.EVERYTHING:
        return Found(lack, partial(Drawn, b"", {}), lack)
    name = (frozenset(block.content.edition for block in blocks), frozenset(patch.items()), lack)
    return Found(name, partial(_put_together, expected, blocks, patch), lack)


def _put_together(expected: Universe, blocks: Sequence[_Block], patch: Facts) -> Drawn:
    looks, loose = _numbered(expected, blocks), _loose(blocks)
    loose |= _early(expected, blocks)
    numbers = numbers_of(expected.definition, patch, expected.now) if expected.definition and patch else {}
    for key, look in patch.items():
        number = numbers.get(key, expected.count)
        if number < expected.count:
            if number >= len(looks):
                looks.extend(bytes([Look.MISSING]) * (number + 1 - len(looks)))
            looks[number] = Look.MISSING if look is None else look
        elif look is None:
            loose.pop(key, None)
        else:
            loose[key] = look
    left_off = max(0, len(loose) - MOST_KEYS)
    kept = dict(islice(loose.items(), left_off, None)) if left_off else loose
    return Drawn(bytes(looks), kept, left_off)


def _numbered(expected: Universe, blocks: Sequence[_Block]) -> bytearray:
    contents = {block.number: block.content.looks for block in blocks if not block.is_loose}
    last = max((number for number in contents if number * BLOCK < expected.count), default=-1)
    blank = bytes([Look.MISSING]) * BLOCK
    parts = [contents.get(number, b"") + blank[len(contents.get(number, b"")) :] for number in range(last)]
    looks = bytearray(b"".join([*parts, contents.get(last, b"")]))
    del looks[expected.count :]
    return looks


def _loose(blocks: Sequence[_Block]) -> dict[str, Look]:
    found: dict[str, Look] = {}
    for block in sorted((block for block in blocks if block.is_loose), key=lambda block: block.number):
        each = zip(block.content.keys, block.content.looks, strict=True)
        found |= {key: Look(look) for key, look in each if look != GONE}
    return found


def _early(expected: Universe, blocks: Sequence[_Block]) -> dict[str, Look]:
    """Keys that came before their time: the definition will have them."""
    found: dict[str, Look] = {}
    for block in blocks:
        begin = block.number * BLOCK
        if block.is_loose or expected.definition is None or begin + BLOCK <= expected.count:
            continue
        for at, look in enumerate(block.content.looks, begin):
            if at >= expected.count and look != Look.MISSING:
                found[expected.definition.key_at(at, expected.now)] = Look(look)
    return found
