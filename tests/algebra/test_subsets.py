"""Sets of numbers as ranges, against plain sets."""

from datetime import UTC, datetime
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.partitions import MultiPartitions, StaticPartitions
from scheduling.algebra.subsets import Subset, keys_of, subset_of, text_of
from scheduling.algebra.time_partitions import DailyPartitions, MinutelyPartitions

NUMBERS = st.sets(st.integers(0, 40))
DAYS = DailyPartitions("2026-03-01", "2026-04-02")


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
