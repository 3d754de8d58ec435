"""Listed, dynamic and composite partitions, and their specs."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra import specs
from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions

NOW = datetime(2026, 3, 4, tzinfo=UTC)
REGIONS = StaticPartitions(["us", "eu", "ap"])
DAYS = DailyPartitions("2026-03-01")


class TestStaticPartitions:
    def test_keep_the_order_they_are_listed_in(self):
        assert REGIONS.keys() == ("us", "eu", "ap")
        assert [REGIONS.index(key) for key in REGIONS.listed] == [0, 1, 2]
        assert (REGIONS.first(), REGIONS.last(), REGIONS.count()) == ("us", "ap", 3)
        assert REGIONS.keys(1, 3) == ("eu", "ap")

    def test_have_no_time(self):
        assert REGIONS.partition_date("us") is None
        assert not REGIONS.grows

    def test_name_what_is_close_to_a_mistake(self):
        many = StaticPartitions(["us", "eu", "ap", *map(str, range(10))])
        with pytest.raises(InvalidKey, match="'usa' is not one of these 13 partitions; close to it are us"):
            many.index("usa")
        with pytest.raises(InvalidKey, match="'mars' is not one of these 13 partitions, such as us"):
            many.index("mars")
        with pytest.raises(InvalidKey):
            REGIONS.partition_date("cn")

    def test_name_all_where_they_are_few(self):
        with pytest.raises(InvalidKey, match="'usa' is not one of the partitions: there are us, eu, ap"):
            REGIONS.index("usa")
        with pytest.raises(InvalidKey, match="'usa' is not one of the partitions: there is us"):
            StaticPartitions(["us"]).index("usa")
        with pytest.raises(InvalidKey, match="'usa' is not one of the partitions: there are none"):
            DynamicPartitions("shops").bound(lambda name: ()).index("usa")

    @pytest.mark.parametrize("number", [-1, 3])
    def test_have_no_other_numbers(self, number):
        with pytest.raises(IndexError):
            REGIONS.key_at(number)

    @pytest.mark.parametrize("listed", [[], "us", None, 5, ["us", ""], ["us", 5], ["us", "us"], [" us"]])
    def test_refuse_what_is_no_list_of_keys(self, listed):
        with pytest.raises(InvalidDefinition):
            StaticPartitions(listed)

    def test_take_any_text(self):
        keys = ["Report, Q1 2024.pdf", '{"k1":"v1"}', "my|key", "a/b?c#d&e=%2F", "Zürich", "東京"]
        definition = StaticPartitions(keys)
        assert [definition.key_at(definition.index(key)) for key in keys] == keys


class TestDynamicPartitions:
    def test_take_their_keys_from_outside(self):
        stores = DynamicPartitions("stores").bound({"stores": ["s2", "s1", "s2"]}.__getitem__)
        assert stores.keys() == ("s2", "s1")
        assert stores.index("s1") == 1
        assert stores.count() == 2
        with pytest.raises(InvalidKey):
            stores.index("s3")

    def test_may_have_none_yet(self):
        stores = DynamicPartitions("stores").bound(lambda name: [])
        assert stores.count() == 0
        assert stores.last() is None

    def test_do_not_know_them_alone(self):
        stores = DynamicPartitions("stores")
        for ask in (stores.count, stores.keys, lambda: stores.index("s1"), lambda: stores.key_at(0)):
            with pytest.raises(InvalidDefinition, match="which keys 'stores' has is not known"):
                ask()

    @pytest.mark.parametrize("name", ["", " ", None, 5])
    def test_need_a_name(self, name):
        with pytest.raises(InvalidDefinition):
            DynamicPartitions(name)


class TestMultiPartitions:
    BOTH = MultiPartitions({"region": REGIONS, "day": DAYS})

    def test_are_every_combination(self):
        assert self.BOTH.count(NOW) == 9
        assert len(set(self.BOTH.keys(now=NOW))) == 9
        assert list(self.BOTH.dimensions) == ["region", "day"]

    def test_number_what_time_adds_last(self):
        """A number stays that of its key when a day is added."""
        before = self.BOTH.keys(now=NOW)
        after = self.BOTH.keys(now=datetime(2026, 3, 6, tzinfo=UTC))
        assert after[: len(before)] == before
        assert before[:4] == ("us|2026-03-01", "eu|2026-03-01", "ap|2026-03-01", "us|2026-03-02")

    def test_need_no_moment_for_the_numbers_of_one_growing_dimension(self):
        assert self.BOTH.key_at(4) == "eu|2026-03-02"
        assert self.BOTH.index("eu|2026-03-02") == 4
        assert self.BOTH.keys(3, 5) == ("us|2026-03-02", "eu|2026-03-02")

    def test_three_dimensions(self):
        three = MultiPartitions({"region": REGIONS, "day": DAYS, "tier": StaticPartitions(["free", "paid"])})
        keys = three.keys(now=NOW)
        assert len(keys) == 18
        assert [three.index(key) for key in keys] == list(range(18))
        assert keys[1] == "us|2026-03-01|paid"

    def test_tc35_segments_that_hold_the_delimiter_stay_apart(self):
        odd = MultiPartitions({"x": StaticPartitions(["a", "a|b"]), "y": StaticPartitions(["c", "b|c"])})
        keys = odd.keys()
        assert len(set(keys)) == 4
        assert odd.segments(odd.key_of(["a|b", "c"])) == ("a|b", "c")
        assert odd.key_of(["a|b", "c"]) != odd.key_of(["a", "b|c"])

    def test_another_delimiter(self):
        slashed = MultiPartitions({"region": REGIONS, "day": DAYS}, delimiter="/")
        assert slashed.key_at(0) == "us/2026-03-01"

    def test_the_date_is_that_of_the_dimension_that_has_one(self):
        assert self.BOTH.partition_date("us|2026-03-02") == datetime(2026, 3, 2, tzinfo=UTC)
        hours = MultiPartitions({"day": DAYS, "hour": HourlyPartitions("2026-03-01")})
        assert hours.partition_date("2026-03-02|2026-03-02T05") is None

    @pytest.mark.parametrize(
        ("key", "said"),
        [
            ("us", "has 1 segment where region|day belong, such as us|2026-03-01"),
            ("us|2026-03-01|x", "has 3 segments"),
            ("cn|2026-03-01", "region: 'cn' is not one of the partitions"),
            ("us|2026-02-30", "day: '2026-02-30' is not a key"),
        ],
    )
    def test_a_wrong_key_is_refused_with_its_segment(self, key, said):
        with pytest.raises(InvalidKey) as refusal:
            self.BOTH.index(key)
        assert said in str(refusal.value)
        assert not self.BOTH.contains(key)

    @pytest.mark.parametrize(
        "dimensions",
        [{}, {"region": REGIONS}, {"region": REGIONS, "day": "days"}, {"region": REGIONS, "": DAYS}],
    )
    def test_refuse_what_are_no_dimensions(self, dimensions):
        with pytest.raises(InvalidDefinition) as refusal:
            MultiPartitions(dimensions)
        assert refusal.value.path == "dimensions"

    def test_refuse_two_dimensions_of_one_name(self):
        with pytest.raises(InvalidDefinition):
            MultiPartitions((("a", REGIONS), ("a", DAYS)))

    def test_give_dynamic_dimensions_their_keys(self):
        both = MultiPartitions({"store": DynamicPartitions("stores"), "day": DAYS})
        assert both.bound(lambda name: ["s1", "s2"]).keys(0, 3) == (
            "s1|2026-03-01",
            "s2|2026-03-01",
            "s1|2026-03-02",
        )

    def test_warn_for_their_dimensions(self):
        naive = HourlyPartitions("2026-03-01", timezone="America/New_York", key_format="%Y-%m-%dT%H")
        assert MultiPartitions({"region": REGIONS, "hour": naive}).warnings(NOW) == naive.warnings(NOW)

    def test_words(self):
        assert self.BOTH.words() == "region: 3 listed keys × day: days from 2026-03-01 (UTC)"

    @given(st.lists(st.integers(1, 4), min_size=2, max_size=4), st.integers(0, 300))
    def test_numbers_and_keys_are_inverse(self, sizes, number):
        parts = {f"d{at}": StaticPartitions([f"k{n}" for n in range(size)]) for at, size in enumerate(sizes)}
        definition = MultiPartitions({**parts, "day": DAYS})
        assert definition.index(definition.key_at(number)) == number


class TestSpecs:
    @pytest.mark.parametrize(
        "definition",
        [
            REGIONS,
            DAYS,
            DynamicPartitions("stores"),
            HourlyPartitions("2026-03-01T05:00", "2027-01-01", timezone="America/New_York", end_offset=-1),
            DailyPartitions("2026-03-01", exclusions=["0 0 * * 0", "2026-12-25", datetime(2026, 3, 2, 0, 0)]),
            DailyPartitions("2026-03-01", exclusions=[BusinessCalendar(["2026-12-25"], ["friday"])]),
            TimePartitions("0 5 * * *", "2026-03-01", key_format="%Y%m%d"),
            MultiPartitions(
                {"region": REGIONS, "store": DynamicPartitions("stores"), "day": DAYS}, delimiter="/"
            ),
        ],
    )
    def test_round_trip_through_json(self, definition):
        spec = json.loads(json.dumps(specs.dump(definition)))
        assert specs.load(spec, "partitions") == definition

    def test_have_the_names_of_the_design(self):
        spec = specs.dump(MultiPartitions({"region": REGIONS, "day": DAYS}))
        assert spec["dimensions"][0] == {
            "name": "region",
            "partitions": {"type": "StaticPartitions", "keys": ["us", "eu", "ap"]},
        }
        assert spec["dimensions"][1]["partitions"] == {
            "type": "TimePartitions",
            "cadence": "day",
            "start": "2026-03-01T00:00:00+00:00",
            "key_format": "%Y-%m-%d",
        }

    def test_the_keys_of_dynamic_partitions_are_not_stored(self):
        stores = DynamicPartitions("stores").bound(lambda name: ["s1"])
        assert specs.dump(stores) == {"type": "DynamicPartitions", "name": "stores"}

    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({"type": "TimePartitions", "cadence": "daily", "start": "2026-03-01"}, "cadence"),
            ({"type": "TimePartitions", "cadence": "day", "start": "soon"}, "start"),
            ({"type": "TimePartitions", "start": "2026-03-01"}, "cadence"),
            ({"type": "StaticPartitions", "keys": []}, "keys"),
            ({"type": "DayWindow"}, "type"),
            ({"type": "MultiPartitions", "dimensions": [{"name": "a"}]}, "dimensions[0]"),
            (
                {
                    "type": "MultiPartitions",
                    "dimensions": [
                        {"name": "a", "partitions": {"type": "StaticPartitions", "keys": ["x"]}},
                        {"name": "b", "partitions": {"type": "StaticPartitions"}},
                    ],
                },
                "dimensions[1].partitions.keys",
            ),
        ],
    )
    def test_errors_name_their_path(self, spec, path):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load(spec, "partitions")
        assert refusal.value.path == path
