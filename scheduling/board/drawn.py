"""How every partition of an asset looks, from its drawing and from what the drawing does not show yet.

A drawing holds one byte for each key (`core.models.drawings`) and is brought up to date behind the writers
(`scheduling.drawings`). Partitions and held runs that it does not show as they are can be found by an index
of these alone, and their looks are put over it. So what is read here is exact at every moment, and costs what
has changed since the last drawing, not what there is. An asset that has no drawing, or one of another
definition, is read row by row: that is right, too, and slow where there are very many.

The order of the reads matters. What a drawing lacks is read before its blocks: when it is drawn in between,
it is there twice, which does no harm. The other way round it could be missed.
"""

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from itertools import islice

from django.db.models import Case, OuterRef, Subquery, Value, When

from core.models import Asset, Dag, HeldRun, Partition
from core.models.drawings import BLOCK
from scheduling.algebra.numbering import numbers_of
from scheduling.board import changes
from scheduling.board.blocks import Block, of_drawings
from scheduling.board.cells import Look
from scheduling.board.changes import Facts
from scheduling.board.universe import MOST_KEYS, Universe

GONE = 6
"""The byte of a loose key that was held and is not any more."""

MOST_PATCHES = 20_000
"""Keys that are put over a drawing one by one; where more have changed everything is read."""

MOST_READ = 5000
"""Partitions of an asset without a drawing that are read row by row where there is no time for more."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One byte for each numbered key as far as any was drawn: all beyond are missing; and the loose keys.

    `left_off` counts loose keys that are too many.
    """

    looks: bytes
    loose: Mapping[str, Look]
    left_off: int = 0


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
    patches = changes.undrawn(drawn - overfull)
    everything = stands.keys() - drawn | (overfull - behind)
    blocks = of_drawings(drawn - everything, expected)
    vanished = drawn - everything - blocks.keys()  # somebody makes it anew at this moment
    lacks = dict.fromkeys(behind, Lack.CHANGES)
    if not patient:
        lacks |= dict.fromkeys(everything & large | vanished, Lack.EVERYTHING)
    if read := {pk for pk in everything | vanished if pk not in lacks}:
        patches |= changes.everything(read)
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


def _found(expected: Universe, blocks: Sequence[Block], patch: Facts, lack: Lack) -> Found:
    if lack is Lack.EVERYTHING:
        return Found(lack, partial(Drawn, b"", {}), lack)
    name = (frozenset(block.content.edition for block in blocks), frozenset(patch.items()), lack)
    return Found(name, partial(_put_together, expected, blocks, patch), lack)


def _put_together(expected: Universe, blocks: Sequence[Block], patch: Facts) -> Drawn:
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


def _numbered(expected: Universe, blocks: Sequence[Block]) -> bytearray:
    contents = {block.number: block.content.looks for block in blocks if not block.is_loose}
    last = max((number for number in contents if number * BLOCK < expected.count), default=-1)
    blank = bytes([Look.MISSING]) * BLOCK
    parts = [contents.get(number, b"") + blank[len(contents.get(number, b"")) :] for number in range(last)]
    looks = bytearray(b"".join([*parts, contents.get(last, b"")]))
    del looks[expected.count :]
    return looks


def _loose(blocks: Sequence[Block]) -> dict[str, Look]:
    found: dict[str, Look] = {}
    for block in sorted((block for block in blocks if block.is_loose), key=lambda block: block.number):
        each = zip(block.content.keys, block.content.looks, strict=True)
        found |= {key: Look(look) for key, look in each if look != GONE}
    return found


def _early(expected: Universe, blocks: Sequence[Block]) -> dict[str, Look]:
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
