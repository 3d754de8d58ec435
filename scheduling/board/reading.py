"""Reads the states of partitions into cells, and keeps them until something has changed."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from django.db.models import Count, F, Max, Q, Sum

from core.models import Asset, HeldRun, Partition
from scheduling.board import universe
from scheduling.board.cells import Cells, Look
from scheduling.board.labels import Place, places
from scheduling.board.universe import Universe

State = Partition.State
LOOKS = {
    State.MATERIALIZED: Look.MATERIALIZED,
    State.FAILED: Look.FAILED,
    State.RUNNING: Look.RUNNING,
    State.MISSING: Look.MISSING,
}


@dataclass(frozen=True, slots=True)
class Read:
    """The cells of an asset, when data last came, and what they were read from."""

    cells: Cells
    last_data_at: datetime | None
    left_off: int
    name: Hashable


def read(assets: Sequence[Asset], *, now: datetime) -> dict[int, Read]:
    """The states of all partitions of `assets`.

    Three queries say which assets have changed since this process last read them; two more read those.
    """
    expected = universe.of_assets(assets, now=now)
    versions, data_at = _versions(assets)
    answer: dict[int, Read] = {}
    for asset in assets:
        known = _kept.get(asset.pk)
        name = (expected[asset.pk].name if asset.pk in expected else None, versions[asset.pk])
        if known and known.name == name:
            answer[asset.pk] = known
    changed = [asset.pk for asset in assets if asset.pk not in answer]
    states, held = _states(changed), _held(changed)
    for pk in changed:
        keys = expected.get(pk)
        cells = _cells(keys, states[pk], held[pk])
        name = (keys.name if keys else None, versions[pk])
        answer[pk] = Read(cells, data_at.get(pk), keys.left_off if keys else 0, name)
        _keep(pk, answer[pk])
    return answer


KEPT = 500
_kept: dict[int, Read] = {}


def _keep(pk: int, what: Read) -> None:
    if len(_kept) >= KEPT:
        _kept.clear()
    _kept[pk] = what


def _versions(assets: Iterable[Asset]) -> tuple[dict[int, Hashable], dict[int, datetime | None]]:
    """Per asset a value that differs whenever a partition or a held run of it does."""
    rows = (
        Partition.objects.filter(asset__in=assets)
        .values("asset_id")
        .annotate(
            count=Count("pk"),
            at=Max("updated_at"),
            data_at=Max("data_at"),
            events=Sum("last_event_id"),
            attempts=Sum("attempt_run_id"),
            stale=Count("pk", filter=Q(is_stale=True)),
            **{state.value: Count("pk", filter=Q(state=state)) for state in State},
        )
    )
    by_asset = {row["asset_id"]: row for row in rows}
    held = (
        HeldRun.objects.held()
        .filter(dag__outlets__asset__in=assets)
        .values(asset_id=F("dag__outlets__asset"))
        .annotate(count=Count("pk", distinct=True), total=Sum("pk"))
    )
    open_runs = {row["asset_id"]: (row["count"], row["total"]) for row in held}
    versions: dict[int, Hashable] = {
        asset.pk: (tuple(by_asset.get(asset.pk, {}).items()), open_runs.get(asset.pk)) for asset in assets
    }
    return versions, {pk: row["data_at"] for pk, row in by_asset.items()}


def _states(asset_ids: Sequence[int]) -> dict[int, dict[str, Look]]:
    states: dict[int, dict[str, Look]] = defaultdict(dict)
    if asset_ids:
        rows = Partition.objects.filter(asset__in=asset_ids).order_by("asset_id", "partition_date", "key")
        for asset_id, key, state, is_stale in rows.values_list("asset_id", "key", "state", "is_stale"):
            look = LOOKS[State(state)]
            states[asset_id][key] = Look.STALE if is_stale and look is Look.MATERIALIZED else look
    return states


def _held(asset_ids: Sequence[int]) -> dict[int, dict[str, None]]:
    held: dict[int, dict[str, None]] = defaultdict(dict)
    if asset_ids:
        rows = HeldRun.objects.held().filter(dag__outlets__asset__in=asset_ids).exclude(partition_key="")
        for asset_id, key in rows.order_by("pk").values_list("dag__outlets__asset", "partition_key"):
            held[asset_id][key] = None
    return held


def _cells(expected: Universe | None, states: dict[str, Look], held: dict[str, None]) -> Cells:
    keys = expected.keys if expected else ()
    known = frozenset(keys)
    others = [key for key in {**states, **held} if key not in known]
    in_order = _in_order((*keys, *others)) if others else _placed(keys)
    looks = bytes(_look(place.key, states, held) for place in in_order)
    unexpected = frozenset(others) if expected and expected.is_defined else frozenset()
    return Cells(in_order, looks, unexpected)


def _look(key: str, states: dict[str, Look], held: dict[str, None]) -> Look:
    look = states.get(key, Look.MISSING)
    return Look.HELD if look is Look.MISSING and key in held else look


@lru_cache(maxsize=64)
def _placed(keys: tuple[str, ...]) -> list[Place]:
    return _in_order(keys)


def _in_order(keys: tuple[str, ...]) -> list[Place]:
    """By time where keys have one, else as given."""
    found = places(keys)
    return sorted(found, key=lambda place: place.label) if found and found[0].label else found
