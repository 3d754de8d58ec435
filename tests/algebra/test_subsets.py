"""Sets of numbers as ranges, against plain sets."""

from datetime import UTC, datetime
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.subsets import Subset, keys_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, MinutelyPartitions
from tests.algebra.picking import subset_of, text_of

NUMBERS = st.sets(st.integers(0, 40))
DAYS = DailyPartitions("2026-03-01", "2026-04-02")
ALL_DAYS = DAYS.keys()
TWELVE = TimePartitions("*/10 * * * *", "2026-05-17T00:00", "2026-05-17T02:00").keys()


def is_tidy(subset):
    ends = [end for each in subset.ranges for end in each]
    return ends == sorted(set(ends)) and all(end >= 0 for end in ends)


class TestSetLaws:
    @given(NUMBERS, NUMBERS)
    def test_are_those_of_plain_sets(self, a, b):
        left, right = Subset.of(a), Subset.of(b)
        for found, wanted in (
            (left | right, a | b),
            (left & right, a & b),
            (left - right, a - b),
            (left ^ right, a ^ b),
        ):
            assert set(found) == wanted
            assert found == Subset.of(wanted)
            assert is_tidy(found)

    @given(NUMBERS, NUMBERS)
    def test_order_and_truth(self, a, b):
        left, right = Subset.of(a), Subset.of(b)
        assert (left <= right) == (a <= b)
        assert bool(left) == bool(a)
        assert (left == right) == (a == b)

    @given(NUMBERS)
    def test_members(self, a):
        subset = Subset.of(a)
        assert list(subset) == sorted(a)
        assert subset.count == len(subset) == len(a)
        assert [number in subset for number in range(-1, 42)] == [number in a for number in range(-1, 42)]
        assert subset.first() == min(a, default=None)
        assert subset.last() == max(a, default=None)

    @given(NUMBERS, st.integers(0, 45), st.integers(0, 45))
    def test_slices_are_those_of_the_sorted_list(self, a, start, stop):
        found = Subset.of(a).slice(start, stop)
        assert list(found) == sorted(a)[start:stop]
        assert is_tidy(found)

    @given(st.lists(NUMBERS, max_size=6))
    def test_a_union_of_many(self, sets):
        assert set(Subset.union(map(Subset.of, sets))) == set().union(*sets)

    @given(st.integers(0, 10), st.integers(0, 10))
    def test_a_span(self, start, stop):
        assert list(Subset.span(start, stop)) == list(range(start, stop))


class TestCost:
    def test_does_not_grow_with_the_number_of_keys(self):
        minutes, now = MinutelyPartitions("2024-01-01"), datetime(2025, 11, 25, 10, 40, tzinfo=UTC)
        begun = perf_counter()
        everything = Subset.span(0, minutes.count(now))
        gap = subset_of(minutes, ["2024-06-01T00:00", "2025-06-01T00:00"])
        left = everything - gap
        assert left.count == 999_998
        assert len(left.ranges) == 3
        assert text_of(minutes, gap) == "2024-06-01T00:00, 2025-06-01T00:00"
        assert list(keys_of(minutes, left.slice(218_879, 218_881))) == [
            "2024-05-31T23:59",
            "2024-06-01T00:01",
        ]
        assert perf_counter() - begun < 0.1


class TestKeys:
    def test_of_a_subset_and_back(self):
        keys = ["2026-03-05", "2026-03-01", "2026-03-02"]
        subset = subset_of(DAYS, keys)
        assert list(keys_of(DAYS, subset)) == sorted(keys)

    def test_an_unknown_key_is_named(self):
        with pytest.raises(InvalidKey, match="2026-05-01"):
            subset_of(DAYS, ["2026-03-05", "2026-05-01"])

    def test_tc38_the_keys_between_are_not_touched(self):
        letters = StaticPartitions(["A", "B", "C"])
        assert list(keys_of(letters, subset_of(letters, ["A", "C"]))) == ["A", "C"]

    def test_of_composite_keys(self):
        both = MultiPartitions({"region": StaticPartitions(["us", "eu"]), "day": DAYS})
        subset = subset_of(both, ["eu|2026-03-02", "us|2026-03-02"])
        assert subset.ranges == ((2, 4),)
        assert list(keys_of(both, subset)) == ["us|2026-03-02", "eu|2026-03-02"]

    @pytest.mark.parametrize(
        ("numbers", "text"),
        [
            ([], ""),
            ([0], "2026-03-01"),
            ([0, 1], "2026-03-01, 2026-03-02"),
            ([*range(10), 31], "[2026-03-01...2026-03-10], 2026-04-01"),
        ],
    )
    def test_as_a_person_would_type_them(self, numbers, text):
        assert text_of(DAYS, Subset.of(numbers)) == text


class TestTc38:
    TEN_MINUTES = TimePartitions("*/10 * * * *", "2026-05-17T00:00", "2026-05-17T02:00")

    def test_one_missing_of_twelve(self):
        expected = Subset.span(0, self.TEN_MINUTES.count())
        ok = subset_of(self.TEN_MINUTES, [key for key in TWELVE if not key.endswith("00:30")])
        missing = expected - ok
        assert expected.count == 12
        assert list(keys_of(self.TEN_MINUTES, missing)) == ["2026-05-17T00:30"]

    def test_failed_and_missing_is_a_union_without_doubles(self):
        everything = Subset.span(0, 4)
        failed, ok = Subset.of([1, 2]), Subset.of([0, 3])
        missing = everything - ok
        assert (failed | missing) == Subset.of([1, 2])

    @given(st.lists(st.sampled_from(["ok", "failed", "running", "queued", "missing"]), max_size=60))
    def test_the_states_of_all_keys_add_up(self, states):
        by_state = {
            state: Subset.of(number for number, each in enumerate(states) if each == state)
            for state in set(states)
        }
        assert sum(subset.count for subset in by_state.values()) == len(states)
        assert Subset.union(by_state.values()) == Subset.span(0, len(states))


class TestNestedDimensions:
    BOTH = MultiPartitions({"region": StaticPartitions(["us", "eu", "ap"]), "day": DAYS})

    @given(st.sets(st.integers(0, 95)))
    def test_keys_of_any_subset(self, numbers):
        subset = Subset.of(numbers)
        assert list(keys_of(self.BOTH, subset)) == [self.BOTH.key_at(number) for number in sorted(numbers)]
        assert subset_of(self.BOTH, keys_of(self.BOTH, subset)) == subset

    def test_one_region_is_a_range_for_each_day_and_one_day_is_one_range(self):
        region = subset_of(self.BOTH, [f"eu|{day}" for day in ALL_DAYS])
        assert len(region.ranges) == 32
        day = subset_of(self.BOTH, [f"{region}|2026-03-05" for region in ("us", "eu", "ap")])
        assert len(day.ranges) == 1
        assert list(keys_of(self.BOTH, region & day)) == ["eu|2026-03-05"]
