"""Specs: definitions as JSON, and what is said when they are wrong."""

import json
from datetime import timedelta

import pytest
from hypothesis import given

from scheduling.algebra import specs
from scheduling.algebra.conditions import All, AssetLeaf, AssetRef
from scheduling.algebra.errors import InvalidDefinition, InvalidKey, PartitionError, within
from scheduling.algebra.mappers import FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import Deadline, Fire, MinimumCount
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper
from scheduling.algebra.timetables import PartitionedAssetTimetable
from scheduling.algebra.windows import DayWindow, SegmentWindow
from tests.algebra import strategies

DAY = {"type": "StartOfDayMapper"}
ROLLUP = {"type": "RollupMapper", "upstream_mapper": DAY, "window": {"type": "DayWindow"}}


class TestRoundTrip:
    """load(dump(x)) == x, through real JSON."""

    def check(self, value, kind):
        spec = specs.dump(value)
        text = json.dumps(spec)
        loaded = specs.load(json.loads(text), kind)
        assert loaded == value
        assert type(loaded) is type(value)
        assert hash(loaded) == hash(value)
        assert specs.dump(loaded) == spec

    @given(strategies.mappers)
    def test_of_mappers(self, value):
        self.check(value, "mapper")

    @given(strategies.windows)
    def test_of_windows(self, value):
        self.check(value, "window")

    @given(strategies.policies)
    def test_of_policies(self, value):
        self.check(value, "wait_policy")

    @given(strategies.conditions)
    def test_of_conditions(self, value):
        self.check(value, "condition")

    @given(strategies.timetables)
    def test_of_timetables(self, value):
        self.check(value, "timetable")


class TestTheForm:
    """As the recorded answers of Airflow have it."""

    @pytest.mark.parametrize(
        ("value", "spec"),
        [
            (IdentityMapper(), {"type": "IdentityMapper"}),
            (StartOfDayMapper(), {"type": "StartOfDayMapper"}),
            (StartOfDayMapper("Asia/Taipei"), {"type": "StartOfDayMapper", "timezone": "Asia/Taipei"}),
            (
                FixedKeyMapper("all", max_downstream_keys=3),
                {"type": "FixedKeyMapper", "downstream_key": "all", "max_downstream_keys": 3},
            ),
            (SegmentWindow(["us", "eu"]), {"type": "SegmentWindow", "segments": ["us", "eu"]}),
            (DayWindow(direction="backward"), {"type": "DayWindow", "direction": "backward"}),
            (RollupMapper(StartOfDayMapper(), DayWindow()), ROLLUP),
            (MinimumCount(-1), {"type": "MinimumCount", "n": -1}),
            (
                Deadline("6h", MinimumCount(20)),
                {"type": "Deadline", "after": 21600, "then": {"type": "MinimumCount", "n": 20}},
            ),
            (Deadline("6h", Fire), {"type": "Deadline", "after": 21600, "then": "fire"}),
            (All((AssetLeaf("a"), AssetRef(uri="x://b"))), {"all": [{"asset": "a"}, {"ref_uri": "x://b"}]}),
        ],
    )
    def test_says_the_type_and_what_is_not_at_its_default(self, value, spec):
        assert specs.dump(value) == spec

    def test_names_mappers_of_a_timetable_shortly(self):
        timetable = PartitionedAssetTimetable(
            AssetLeaf("sales") & AssetRef(name="targets"),
            default_partition_mapper=StartOfDayMapper(),
            partition_mapper_config={AssetLeaf("sales"): StartOfHourMapper()},
            settle=timedelta(minutes=1),
        )
        assert specs.dump(timetable) == {
            "type": "PartitionedAssetTimetable",
            "assets": {"all": [{"asset": "sales"}, {"ref_name": "targets"}]},
            "default_mapper": {"type": "StartOfDayMapper"},
            "mapper_config": [{"asset": {"asset": "sales"}, "mapper": {"type": "StartOfHourMapper"}}],
            "settle": 60,
        }

    @pytest.mark.parametrize("name", ["default_mapper", "default_partition_mapper", "partition_mapper"])
    def test_is_read_with_the_long_names_too(self, name):
        spec = {"type": "PartitionedAssetTimetable", "assets": {"asset": "a"}, name: DAY}
        assert specs.load(spec, "timetable").default_partition_mapper == StartOfDayMapper()

    def test_takes_spans_as_text(self):
        spec = {"type": "Deadline", "after": "6h", "then": "Cancel"}
        assert specs.load(spec, "wait_policy").after == timedelta(hours=6)

    def test_takes_null_for_a_part_that_has_a_default(self):
        assert specs.load({**ROLLUP, "wait_policy": None}, "mapper") == specs.load(ROLLUP, "mapper")


class TestTheWrongKind:
    @pytest.mark.parametrize(
        ("spec", "kind", "words"),
        [
            ({"type": "DayWindow"}, "mapper", "DayWindow is a window; a mapper belongs here"),
            (DAY, "window", "StartOfDayMapper is a mapper; a window belongs here"),
            ({"type": "WaitForAll"}, "window", "WaitForAll is a wait policy; a window belongs here"),
            (DAY, "wait_policy", "a wait policy belongs here"),
            ({"type": "PartitionedAtRuntime"}, "mapper", "is a timetable"),
            ({"type": "Nonsense"}, "mapper", "'Nonsense' is no known mapper; known are AllPartitionsMapper"),
            ({"type": ["StartOfDayMapper"]}, "mapper", "is no known mapper"),
            ({}, "mapper", "None is no known mapper"),
        ],
    )
    def test_is_refused_by_name(self, spec, kind, words):
        with pytest.raises(InvalidDefinition, match=words) as refusal:
            specs.load(spec, kind)
        assert refusal.value.path == "type"

    @pytest.mark.parametrize("spec", [None, "StartOfDayMapper", 5, ["StartOfDayMapper"], True])
    def test_may_be_no_object_at_all(self, spec):
        with pytest.raises(InvalidDefinition, match="is an object with a type"):
            specs.load(spec, "mapper")

    @pytest.mark.parametrize("value", [None, 5, "x", object(), {"type": "IdentityMapper"}])
    def test_cannot_be_written(self, value):
        with pytest.raises(InvalidDefinition, match="is no part of a definition"):
            specs.dump(value)


class TestThePath:
    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({**ROLLUP, "window": {"type": "DayWindow", "direction": "sideways"}}, "window.direction"),
            ({**ROLLUP, "window": {"type": "DayWindow", "members": "day"}}, "window.members"),
            ({**ROLLUP, "upstream_mapper": {"type": "DayWindow"}}, "upstream_mapper.type"),
            ({**ROLLUP, "upstream_mapper": {**DAY, "timezone": "Mars/X"}}, "upstream_mapper.timezone"),
            (
                {**ROLLUP, "upstream_mapper": {**DAY, "input_format": "%Y-%m-%d"}},
                "upstream_mapper.input_format",
            ),
            ({**ROLLUP, "wait_policy": {"type": "MinimumCount", "n": 0}}, "wait_policy.n"),
            ({**ROLLUP, "wait_policy": {"type": "MinimumCount", "n": 25}}, "wait_policy"),
            ({**ROLLUP, "colour": "red"}, "colour"),
            ({"type": "RollupMapper", "window": {"type": "DayWindow"}}, "upstream_mapper"),
            (
                {"type": "ProductMapper", "mappers": [DAY, {**ROLLUP, "window": {"type": "Dey"}}]},
                "mappers[1].window.type",
            ),
            ({"type": "ProductMapper", "mappers": [DAY, DAY], "delimiter": ""}, "delimiter"),
            ({"type": "ChainMapper", "mappers": [DAY, DAY]}, "mappers[1]"),
            ({"type": "ChainMapper", "mappers": [DAY]}, "mappers"),
            ({"type": "AllowedKeyMapper", "allowed_keys": ["us", " "]}, "allowed_keys"),
            (
                {
                    "type": "FanOutMapper",
                    "upstream_mapper": DAY,
                    "window": {"type": "SegmentWindow", "segments": []},
                },
                "window.segments",
            ),
        ],
    )
    def test_of_a_mapper_leads_to_what_is_wrong(self, spec, path):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load(spec, "mapper")
        assert refusal.value.path == path

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"assets": {"all": [{"asset": "a"}, {"xor": []}]}}, "assets.all[1].xor"),
            ({"assets": {"asset": ""}}, "assets.asset"),
            ({"assets": {"asset": "a", "ref_name": "b"}}, "assets"),
            ({"assets": {"any": []}}, "assets.any"),
            ({"assets": ["a"]}, "assets"),
            ({"default_mapper": {**DAY, "timezone": "Mars/X"}}, "default_mapper.timezone"),
            (
                {"mapper_config": [{"asset": {"asset": "a"}, "mapper": {"type": "Nope"}}]},
                "mapper_config[0].mapper.type",
            ),
            ({"mapper_config": [{"asset": {"asset": "a"}}]}, "mapper_config[0]"),
            ({"mapper_config": ["a"]}, "mapper_config[0]"),
            ({"late": "never"}, "late"),
            ({"settle": "soon"}, "settle"),
        ],
    )
    def test_of_a_timetable_leads_to_what_is_wrong(self, fields, path):
        spec = {"type": "PartitionedAssetTimetable", "assets": {"asset": "a"}, **fields}
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load(spec, "timetable")
        assert refusal.value.path == path

    def test_is_kept_with_the_kind_of_error(self):
        spec = {**ROLLUP, "upstream_mapper": {"type": "IdentityMapper"}}
        with pytest.raises(TypeError) as refusal:
            specs.load(spec, "mapper")
        assert refusal.value.path == "upstream_mapper"


class TestErrors:
    def test_are_one_family(self):
        assert issubclass(InvalidKey, PartitionError)
        assert issubclass(PartitionError, ValueError)

    def test_say_where_step_by_step(self):
        error = InvalidDefinition("it is bad", path="n").below("wait_policy").below("[2]").below("mappers")
        assert error.path == "mappers[2].wait_policy.n"
        assert str(error) == "it is bad"

    def test_are_placed_only_where_they_are_of_definitions(self):
        assert within("n", int, "5") == 5
        with pytest.raises(ValueError, match="invalid literal") as refusal:
            within("n", int, "x")
        assert not hasattr(refusal.value, "path")
