"""Keeps the drawings of assets: pre-aggregated looks of their partitions, one byte for each key.

What a page shows of a million partitions must not cost a look at a million rows, and those who write
partitions must not wait for each other over a row of counts. So nobody who records an event, starts a run or
opens a held run knows of drawings. A partition remembers how it was last drawn (`drawn`), a held run whether
it is (`is_drawn`), and the database itself says which of them differ from that (`is_undrawn`, with an index
of these alone). One transaction at a time, behind the writers:

1. takes some of those that nobody has locked, and marks them drawn as they are;
2. puts the looks of their keys into the blocks of their assets.

Their writers wait for that, so it is short: what keys an asset has is worked out before, and drawings are
made anew in transactions of their own that mark nothing.

A block is a function of what is marked and of nothing else, and both change in one transaction under one
lock: so it is exact, whoever writes meanwhile. Whoever reads puts over it what is not drawn yet
(`board.drawn`). This waits for no row, so it can be part of no deadlock.

Keys are numbered by the definition of their asset; those it does not have, and all keys of an asset without a
definition, are numbered as they are first drawn, their names kept in the block. When the numbers are other
ones, because the definition or who writes the asset has changed, the drawing is made anew from the marks.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice

from django.db import transaction
from django.db.models import Case, IntegerField, QuerySet, Value, When

from core import locks
from core.models import Asset, Drawing, HeldRun, Outlet, Partition
from core.models.partitions import LOOKS
from scheduling import doorbell
from scheduling.board import universe
from scheduling.board.cells import Look
from scheduling.board.drawn import GONE
from scheduling.board.universe import Universe
from scheduling.sheets import Sheet

PORTION = 5000
"""Partitions, and held runs, that one transaction draws."""

READ = 20_000
"""Rows that are read at a time when a drawing is made anew."""

Keys = dict[int, set[str]]
"""Keys by asset."""


def draw(*, now: datetime, portion: int = PORTION) -> int:
    """Draw some of what is not drawn yet, and what drawings of another definition were of.

    :returns: how many partitions, held runs and drawings; 0 when nothing is left or somebody else draws.
    """
    expected = universe.of_assets(list(Asset.objects.order_by("pk")), now=now)
    count = _renew(expected)
    with transaction.atomic():
        if not locks.try_drawing():
            return count
        keys, marked = _mark(portion)
        for drawing in Drawing.objects.filter(asset__in=keys).order_by("asset"):
            of_asset = expected.get(drawing.asset_id)
            if of_asset is None or of_asset.name != drawing.name:
                drawing.delete()  # its definition has changed since we asked: made anew in the next call
            else:
                looks = _marked_looks(drawing.asset_id, of_asset, keys[drawing.asset_id])
                Sheet(drawing, of_asset).put(looks)
    return count + marked


class Busy(Exception):
    """Somebody draws at this moment."""


def forget(assets: Iterable[Asset]) -> int:
    """Have the drawings of `assets` made anew, whatever they show; how many there were.

    :raises Busy: if somebody draws them.
    """
    with transaction.atomic():
        if not locks.try_drawing():
            raise Busy("somebody draws at this moment: try again")
        return Drawing.objects.filter(asset__in=list(assets)).delete()[1].get("core.Drawing", 0)


def _renew(expected: Mapping[int, Universe]) -> int:
    """Make the drawings that are missing or of another definition; how many of another there were."""
    count, names = 0, dict(Drawing.objects.values_list("asset_id", "name"))
    for asset_id, of_asset in sorted(expected.items()):
        if names.get(asset_id) != of_asset.name:
            with transaction.atomic():
                if not locks.try_drawing():
                    return count
                _make_anew(asset_id, of_asset)
            count += asset_id in names
    return count


def _mark(portion: int) -> tuple[Keys, int]:
    """Mark partitions and held runs as drawn that are not, and say which keys they have."""
    keys: Keys = defaultdict(set)
    held = list(
        HeldRun.objects.filter(is_undrawn=True)
        .select_for_update(no_key=True, skip_locked=True, of=("self",))
        .values_list("pk", "dag_id", "partition_key", "judge_after")[:portion]
    )
    doorbell.ring_if_due(judge_after for *_, judge_after in held)
    is_held = Case(When(state=HeldRun.State.HELD, then=Value(True)), default=Value(False))
    HeldRun.objects.filter(pk__in=[pk for pk, *_ in held]).update(is_drawn=is_held)
    written = defaultdict(set)
    dag_ids = {dag_id for _, dag_id, *_ in held}
    for dag_id, asset_id in Outlet.objects.filter(dag__in=dag_ids).values_list("dag_id", "asset_id"):
        written[dag_id].add(asset_id)
    for _, dag_id, of_run, _ in held:
        for asset_id in written[dag_id] if of_run else ():
            keys[asset_id].add(of_run)
    parts = list(
        Partition.objects.filter(is_undrawn=True)
        .select_for_update(no_key=True, skip_locked=True, of=("self",))
        .values_list("pk", "asset_id", "key")[:portion]
    )
    look = Case(
        *(When(condition, then=Value(look)) for look, condition in LOOKS), output_field=IntegerField()
    )
    Partition.objects.filter(pk__in=[pk for pk, _, _ in parts]).update(drawn=look)
    for _, asset_id, key in parts:
        keys[asset_id].add(key)
    return keys, len(held) + len(parts)


def _marked_looks(asset_id: int, expected: Universe, keys: set[str]) -> dict[str, int]:
    """How keys look by what is marked; `GONE` if by that there is nothing to say."""
    looks = dict.fromkeys(sorted(keys), GONE)  # so that new keys are numbered in order
    marked = Partition.objects.filter(asset=asset_id, drawn__isnull=False)
    held = HeldRun.objects.filter(dag__in=expected.writers, is_drawn=True)
    for some in _portions(sorted(keys)):
        looks.update(_looks(marked.filter(key__in=some)))
        for key in held.filter(partition_key__in=some).values_list("partition_key", flat=True):
            if looks[key] in (GONE, Look.MISSING):
                looks[key] = Look.HELD
    return looks


def _make_anew(asset_id: int, expected: Universe) -> None:
    """The whole drawing, from what is marked: what is not marked yet is drawn later as everywhere."""
    Drawing.objects.filter(asset=asset_id).delete()
    sheet = Sheet(Drawing.objects.create(asset_id=asset_id, name=expected.name), expected)
    held = HeldRun.objects.filter(dag__in=expected.writers, is_drawn=True).exclude(partition_key="")
    held_keys = set(held.values_list("partition_key", flat=True))
    marked = Partition.objects.filter(asset=asset_id, drawn__isnull=False)
    rows = _looks(marked.order_by("partition_date", "key"))
    while some := dict(islice(rows, READ)):
        for key in held_keys & some.keys():
            held_keys.discard(key)
            if some[key] == Look.MISSING:
                some[key] = Look.HELD
        sheet.add(some)
    sheet.add(dict.fromkeys(sorted(held_keys), Look.HELD))
    sheet.write()


def _looks(marked: QuerySet[Partition]) -> Iterator[tuple[str, int]]:
    for key, look in marked.values_list("key", "drawn").iterator(chunk_size=READ):
        yield key, GONE if look is None else look


def _portions(keys: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(keys), PORTION):
        yield keys[start : start + PORTION]
