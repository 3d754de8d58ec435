"""Reports of events as almost everybody writes them, told apart at a tenth of the cost of reading a form."""

from typing import Any

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.keys import validate_key
from scheduling.keeping import is_short_and_flat

PLAIN: dict[str, Any] = {"partition_key": None, "idempotency_key": None}
"""What a plain report that does not say so means."""


def is_plain(report: Any) -> bool:
    """Whether `EventIn` would take `report` as it is. One that is not plain may be right all the same."""
    if type(report) is not dict or not report.keys() <= _NAMES:
        return False
    key, asset_id, name = report.get("partition_key"), report.get("asset_id"), report.get("idempotency_key")
    return (
        type(asset_id) is int
        and 0 <= asset_id < 2**63
        and ("extra" not in report or is_short_and_flat(report["extra"]))
        and (key is None or (type(key) is str and _may_be_a_key(key)))
        and (name is None or (type(name) is str and len(name) <= 250))
    )


def _may_be_a_key(key: str) -> bool:
    try:
        return bool(validate_key(key))
    except InvalidKey:
        return False


_NAMES = {"asset_id", "partition_key", "extra", "idempotency_key"}
