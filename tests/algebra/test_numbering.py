"""Numbers of many keys at once are those that each has."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra import numbering
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.numbering import numbers_of, there
from scheduling.sdk import (
    DailyPartitions,
    DynamicPartitions,
    HourlyPartitions,
    MultiPartitions,
    StaticPartitions,
    TimePartitions,
)

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
STORES = StaticPartitions([f"s{number}" for number in range(60)])
DEFINITIONS = (
    DailyPartitions("2025-01-01"),
    HourlyPartitions("2025-10-20", timezone="Europe/Paris"),
    HourlyPartitions("2026-03-01", "2026-03-04"),
    TimePartitions("30 6 * * mon-fri", "2025-01-01", key_format="%d.%m.%Y"),
    STORES,
    DynamicPartitions("shops").bound(lambda name: ["lyon", "oslo", "bern"]),
    MultiPartitions({"store": STORES, "day": DailyPartitions("2026-01-01")}),
    MultiPartitions(
        {"day": DailyPartitions("2026-01-01"), "store": STORES, "size": StaticPartitions(["s", "m"])}
    ),
)
IDS = [definition.words() for definition in DEFINITIONS]
STRANGERS = ("", "oops", "s1|oops", "oops|2026-01-01", "2026-01-01", "s1|2026-01-01|m", "2031-02-30", "s\\")


def one_by_one(definition, keys):
    found = {}
    for key in keys:
        try:
            found[key] = definition.index(key)
        except PartitionError:
            continue
    return found


@pytest.mark.parametrize("definition", DEFINITIONS, ids=IDS)
class TestNumbersOf:
    @given(st.data())
    def test_are_those_that_each_key_has(self, definition, data):
        size = definition.count(NOW)
        numbers = data.draw(st.sets(st.integers(0, size - 1), max_size=80))
        keys = [definition.key_at(number, NOW) for number in numbers]
        strangers = data.draw(st.sets(st.sampled_from(STRANGERS)))
        found = numbers_of(definition, {*keys, *strangers}, NOW)
        assert {key: found[key] for key in keys} == dict(zip(keys, numbers, strict=True))
        assert found == one_by_one(definition, {*keys, *strangers})

    def test_of_all_keys_are_all_numbers(self, definition):
        size = min(definition.count(NOW), 3000)
        keys = definition.keys(0, size, NOW)
        assert numbers_of(definition, keys, NOW) == {key: number for number, key in enumerate(keys)}

    def test_of_no_keys_there_are_none(self, definition):
        assert numbers_of(definition, (), NOW) == {}


@pytest.mark.parametrize("definition", DEFINITIONS, ids=IDS)
@given(data=st.data())
def test_keys_that_are_there_are_those_it_contains(definition, data):
    at = data.draw(st.datetimes(datetime(2025, 6, 1), datetime(2026, 3, 12), timezones=st.just(UTC)))
    size = definition.count(NOW)
    numbers = data.draw(st.sets(st.integers(0, size - 1), max_size=80))
    keys = {definition.key_at(number, NOW) for number in numbers} | set(STRANGERS)
    assert there(definition, keys, at) == {key for key in keys if definition.contains(key, at)}


class TestKeysOfTime:
    def test_keys_to_come_have_numbers_too(self):
        days = DailyPartitions("2026-03-01")
        assert numbers_of(days, ["2026-03-01", "2027-03-01"], NOW) == {"2026-03-01": 0, "2027-03-01": 365}

    def test_many_neighbours_are_not_looked_up_one_by_one(self, monkeypatch):
        asked = []
        monkeypatch.setattr(numbering, "_alone", lambda of, keys: asked.extend(keys) or one_by_one(of, keys))
        keys = DailyPartitions("2025-01-01").keys(0, 400, NOW)
        assert len(numbers_of(DailyPartitions("2025-01-01"), keys, NOW)) == 400
        assert asked == [keys[0], keys[-1]]

    def test_a_stranger_among_neighbours_has_none(self):
        keys = [*DailyPartitions("2025-01-01").keys(0, 100, NOW), "2025-02-30", "2025-02-3"]
        assert len(numbers_of(DailyPartitions("2025-01-01"), keys, NOW)) == 100
