"""Mappers of plain keys, and what every mapper has."""

import pytest

from scheduling.algebra.errors import CannotMap, InvalidDefinition, InvalidKey
from scheduling.algebra.knowing import AllPartitionsMapper, LatestPartitionMapper
from scheduling.algebra.mappers import (
    AllowedKeyMapper,
    FixedKeyMapper,
    IdentityMapper,
    Mapper,
    check_mapper,
    check_policy,
)
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.windows import DayWindow


class TestEveryMapper:
    @pytest.mark.parametrize("limit", [0, -1, 1.5, 2.0, "3", True, False, [1]])
    def test_has_a_limit_that_is_a_number(self, limit):
        with pytest.raises(InvalidDefinition, match="whole number") as refusal:
            IdentityMapper(max_downstream_keys=limit)
        assert refusal.value.path == "max_downstream_keys"

    @pytest.mark.parametrize("limit", [None, 1, 7, 10**9])
    def test_may_have_a_limit(self, limit):
        assert IdentityMapper(max_downstream_keys=limit).max_downstream_keys == limit

    def test_takes_its_limit_by_name(self):
        with pytest.raises(TypeError):
            IdentityMapper(7)

    def test_is_a_value(self):
        assert FixedKeyMapper("all") == FixedKeyMapper("all")
        assert FixedKeyMapper("all") != FixedKeyMapper("some")
        assert FixedKeyMapper("all") != AllowedKeyMapper(["all"])
        assert len({IdentityMapper(), IdentityMapper(), IdentityMapper(max_downstream_keys=2)}) == 2

    def test_cannot_be_changed(self):
        with pytest.raises(AttributeError):
            FixedKeyMapper("all").downstream_key = "other"

    def test_must_say_where_keys_go(self):
        with pytest.raises(TypeError):
            Mapper()

    @pytest.mark.parametrize("mapper", [IdentityMapper(), FixedKeyMapper("all"), AllowedKeyMapper(["a"])])
    def test_of_plain_keys_waits_for_nothing_and_knows_no_time(self, mapper):
        assert not mapper.is_rollup
        assert not mapper.needs_known
        assert mapper.is_one_to_one
        assert mapper.wait_policy is None
        assert mapper.member_noun == "keys"
        assert mapper.required("a") is None
        assert mapper.counts_as("a") == "a"
        assert mapper.partition_date("a") is None
        assert mapper.warnings() == ()


class TestIdentityMapper:
    @pytest.mark.parametrize("key", ["2026-03-10", "tw", "tw|2026-03-10", "東京", ""])
    def test_passes_any_key(self, key):
        mapper = IdentityMapper()
        assert mapper.to_downstream(key) == (key,)
        assert mapper.upstream_keys(key) == (key,)
        assert mapper.representative(key) == key

    def test_says_nothing_of_its_keys(self):
        assert IdentityMapper().samples() == ()


class TestAllowedKeyMapper:
    """Slide 65 of the talk, and TC-35."""

    def test_passes_what_is_allowed(self):
        mapper = AllowedKeyMapper(["tw", "jp", "us"])
        assert mapper.to_downstream("jp") == ("jp",)
        assert mapper.upstream_keys("jp") == ("jp",)
        assert mapper.samples() == ("tw", "jp", "us")

    @pytest.mark.parametrize("key", ["cn", "TW", " tw", "t", "tw,jp", ""])
    def test_names_what_is_not(self, key):
        with pytest.raises(CannotMap, match="not one of the allowed keys tw, jp"):
            AllowedKeyMapper(["tw", "jp"]).to_downstream(key)

    def test_never_makes_another_key(self):
        with pytest.raises(InvalidKey):
            AllowedKeyMapper(["tw"]).upstream_keys("cn")

    @pytest.mark.parametrize("allowed", ["us,eu", [], [""], [1, 2], None, {"us": 1}])
    def test_needs_a_list_of_keys(self, allowed):
        with pytest.raises(InvalidDefinition) as refusal:
            AllowedKeyMapper(allowed)
        assert refusal.value.path == "allowed_keys"

    def test_counts_a_key_once(self):
        assert AllowedKeyMapper(["us", "us"]) == AllowedKeyMapper(("us",))


class TestFixedKeyMapper:
    def test_makes_one_key_of_all(self):
        mapper = FixedKeyMapper("all_countries")
        assert {mapper.to_downstream(key) for key in ("tw", "jp", "us", "")} == {("all_countries",)}
        assert mapper.upstream_keys("all_countries") is None
        assert mapper.representative("all_countries") == "all_countries"
        assert mapper.samples() == ("all_countries",)

    def test_never_makes_another_key(self):
        with pytest.raises(InvalidKey, match="never comes about"):
            FixedKeyMapper("all").representative("some")

    @pytest.mark.parametrize("key", ["", " ", "x" * 251, None, ["a"], True, 5, "a\n"])
    def test_needs_what_can_be_a_key(self, key):
        with pytest.raises(InvalidDefinition, match="a FixedKeyMapper cannot take") as refusal:
            FixedKeyMapper(key)
        assert refusal.value.path == "downstream_key"


class TestAllPartitionsMapper:
    def test_needs_every_known_key(self):
        mapper = AllPartitionsMapper()
        assert mapper.is_rollup
        assert mapper.needs_known
        assert mapper.to_downstream("us") == ("all",)
        assert mapper.required("all", ("us", "eu", "us")) == ("us", "eu")
        assert mapper.required("all") == ()
        assert mapper.upstream_keys("all") is None
        assert mapper.wait_policy == WaitForAll()

    def test_may_be_content_with_fewer(self):
        assert AllPartitionsMapper("world", MinimumCount(2)).wait_policy.satisfied(2, 9)

    def test_makes_no_other_key(self):
        with pytest.raises(InvalidKey):
            AllPartitionsMapper("world").required("all", ("us",))

    def test_refuses_what_is_no_key_or_policy(self):
        with pytest.raises(InvalidDefinition):
            AllPartitionsMapper("")
        with pytest.raises(InvalidDefinition) as refusal:
            AllPartitionsMapper("all", DayWindow())
        assert refusal.value.path == "wait_policy"


class TestLatestPartitionMapper:
    def test_needs_the_newest_known_key(self):
        mapper = LatestPartitionMapper()
        assert mapper.to_downstream("2026-03-10") == ("latest",)
        assert mapper.required("latest", ("2026-03-09", "2026-03-10")) == ("2026-03-10",)
        assert mapper.required("latest") == ()
        assert mapper.is_rollup
        assert mapper.needs_known
        assert mapper.wait_policy == WaitForAll()
        assert mapper.upstream_keys("latest") is None

    def test_makes_no_other_key(self):
        with pytest.raises(InvalidKey):
            LatestPartitionMapper().required("2026-03-10", ())


class TestChecks:
    @pytest.mark.parametrize("value", [None, "IdentityMapper", IdentityMapper, 5, DayWindow()])
    def test_refuse_what_is_no_mapper(self, value):
        with pytest.raises(InvalidDefinition, match="upstream_mapper is a partition mapper"):
            check_mapper(value, "upstream_mapper")

    @pytest.mark.parametrize("value", [None, "all", WaitForAll, 5, IdentityMapper()])
    def test_refuse_what_is_no_policy(self, value):
        with pytest.raises(InvalidDefinition, match="wait_policy is one such as"):
            check_policy(value)

    def test_pass_what_is(self):
        assert check_mapper(IdentityMapper(), "it") == IdentityMapper()
        assert check_policy(WaitForAll()) == WaitForAll()
