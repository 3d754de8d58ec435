"""An idempotency key names one event: whoever brings it again gets that one, if the rest is the same."""

import json
from collections.abc import Collection
from decimal import Decimal
from typing import Any

from core.models import Asset, AssetEvent
from scheduling.algebra.errors import PartitionError
from scheduling.masking import masked

Name = tuple[int, str]
"""An asset's primary key and an idempotency key: what at most one event has."""

FROM_REST_API = "from_rest_api"
"""The mark in `extra` of what came by that way: whether something did is not what it says."""


class IdempotencyKeyTaken(PartitionError):
    """The idempotency key is that of another event: one with another partition key or other `extra`."""


def name_of(asset: Asset, idempotency_key: str | None) -> Name | None:
    return (asset.pk, idempotency_key) if idempotency_key else None


def known(names: Collection[Name]) -> dict[Name, AssetEvent]:
    """The events on record that have one of `names`."""
    if not names:
        return {}
    rows = AssetEvent.objects.filter(
        asset_id__in={asset_id for asset_id, _ in names}, idempotency_key__in={key for _, key in names}
    )
    found = {(row.asset_id, row.idempotency_key or ""): row for row in rows}
    return {name: row for name, row in found.items() if name in names}


def check_same(event: AssetEvent, asset: Asset, partition_key: str | None, extra: dict[str, Any]) -> None:
    """:raises IdempotencyKeyTaken: if `event`, which has the idempotency key already, says another thing."""
    taken = f"the idempotency key {event.idempotency_key!r} was used for an event of asset {asset}"
    if event.partition_key != partition_key:
        what = f"partition {event.partition_key!r}" if event.partition_key else "no partition"
        raise IdempotencyKeyTaken(f"{taken} with {what}: choose a new one")
    if _said(event.extra) != _said(extra):
        raise IdempotencyKeyTaken(f"{taken} with other extra: choose a new one")


def _said(extra: dict[str, Any]) -> Any:
    """`extra` as it is kept and read back, without the mark of the way by which it came.

    Its numbers are what their digits say: PostgreSQL gives 1e23 back as an integer, which is another float.
    """
    said = {name: value for name, value in extra.items() if name != FROM_REST_API}
    return json.loads(json.dumps(masked(said)), parse_int=Decimal, parse_float=Decimal)
