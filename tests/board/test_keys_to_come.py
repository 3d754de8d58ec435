"""Keys that came before their time: of any number, the board says the same as the panel of each."""

import pytest

from scheduling.algebra import specs
from scheduling.board import NOT_DEFINED, NOT_DUE, read
from scheduling.board.reading import outside
from scheduling.sdk import DailyPartitions, MultiPartitions, StaticPartitions
from tests.engine.world import NOW, asset, emit

pytestmark = pytest.mark.django_db

DAYS = DailyPartitions("2026-03-01")


def as_told(name):
    """What is said of each key that is outside, in the list of all and one by one."""
    cells = read([asset(name)], now=NOW)[asset(name).pk].cells
    told = {key: cells.outside(key) for key in cells.unexpected}
    assert told == {key: outside(asset(name), key, NOW) for key in told}
    return told


def test_days():
    asset("daily", partitions=specs.dump(DAYS))
    emit("daily", "2026-03-20", "2027-01-01", "2026-02-27", "1999-01-01", "oops", "2026-3-9")
    told = as_told("daily")
    assert [key for key in sorted(told) if told[key] == NOT_DUE] == ["2026-03-20", "2027-01-01"]
    assert len(told) == 6


def test_more_than_a_thousand_composite_keys_that_sort_after_them():
    shops = StaticPartitions(["a", "z"])
    asset("stores", partitions=specs.dump(MultiPartitions({"shop": shops, "day": DAYS})))
    emit("stores", "a|2026-03-20", "z|2026-04-01", *(f"zz {number}|2026-03-20" for number in range(1100)))
    told = as_told("stores")
    assert {key for key in told if told[key] == NOT_DUE} == {"a|2026-03-20", "z|2026-04-01"}
    assert list(told.values()).count(NOT_DEFINED) == 1100
