"""Specs of timetables and partitions: round trips, and refusals that name their place."""

import json
from datetime import timedelta

import pytest
from hypothesis import given, settings

from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.mappers import IdentityMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.timetables import CronPartitionTimetable
from tests.algebra.timetables import PARTITIONS, TIMETABLES


class TestRoundTrips:
    @given(TIMETABLES)
    @settings(max_examples=200)
    def test_timetables(self, timetable):
        spec = json.loads(json.dumps(specs.dump(timetable)))
        assert specs.load(spec, "timetable") == timetable
        assert specs.dump(specs.load(spec, "timetable")) == spec

    @given(PARTITIONS)
    @settings(max_examples=200)
    def test_partitions(self, definition):
        spec = json.loads(json.dumps(specs.dump(definition)))
        assert specs.load(spec, "partitions") == definition
        assert specs.dump(specs.load(spec, "partitions")) == spec


class TestForm:
    def test_of_a_consumer_is_that_of_the_recordings(self):
        spec = {
            "type": "PartitionedAssetTimetable",
            "assets": {"all": [{"asset": "a"}, {"any": [{"ref_name": "b"}, {"ref_uri": "x://c"}]}]},
            "default_mapper": {"type": "StartOfDayMapper"},
            "mapper_config": [{"asset": {"ref_name": "b"}, "mapper": {"type": "IdentityMapper"}}],
            "late": "hold",
            "settle": 90,
        }
        timetable = specs.load(spec, "timetable")
        assert timetable.mapper_for(AssetLeaf("b")) == IdentityMapper()
        assert timetable.mapper_for(AssetLeaf("a")) == StartOfDayMapper()
        assert (timetable.late, timetable.settle) == ("hold", timedelta(seconds=90))
        assert specs.dump(timetable) == spec

    def test_reads_the_names_that_people_write(self):
        spec = {
            "type": "PartitionedAssetTimetable",
            "assets": {"asset": "a"},
            "partition_mapper": {"type": "StartOfDayMapper"},
            "settle": "10m",
            "late_after": "1d",
        }
        timetable = specs.load(spec, "timetable")
        assert timetable.default_partition_mapper == StartOfDayMapper()
        assert (timetable.settle, timetable.late_after) == (timedelta(minutes=10), timedelta(days=1))

    def test_a_span_to_run_at_once_may_be_an_object_of_seconds(self):
        spec = {"type": "CronPartitionTimetable", "cron": "@daily", "run_immediately": {"seconds": 1800}}
        assert specs.load(spec, "timetable").run_immediately == timedelta(minutes=30)

    def test_null_is_what_is_left_out(self):
        spec = {"type": "CronPartitionTimetable", "cron": "@daily", "run_offset": None, "key_format": None}
        assert specs.load(spec, "timetable") == CronPartitionTimetable("@daily")


class TestRefusals:
    @pytest.mark.parametrize(
        ("spec", "path"),
        [
            ({"type": "CronPartitionTimetable"}, "cron"),
            ({"type": "CronPartitionTimetable", "cron": "0 0 0 * *"}, "cron"),
            ({"type": "CronPartitionTimetable", "cron": 5}, "cron"),
            ({"type": "CronTriggerTimetable", "cron": "@daily", "timezone": "Mars/X"}, "timezone"),
            ({"type": "CronTriggerTimetable", "cron": "@daily", "gap": "jump"}, "gap"),
            ({"type": "CronTriggerTimetable", "cron": "@daily", "run_offset": 1}, "run_offset"),
            ({"type": "CronPartitionTimetable", "cron": "@daily", "run_offset": 1.5}, "run_offset"),
            ({"type": "CronPartitionTimetable", "cron": "@daily", "key_format": "%H"}, "key_format"),
            ({"type": "AssetTimetable"}, "assets"),
            ({"type": "AssetTimetable", "assets": {"all": []}}, "assets.all"),
            (
                {"type": "AssetTimetable", "assets": {"all": [{"asset": "a"}, {"asset": ""}]}},
                "assets.all[1].asset",
            ),
            ({"type": "PartitionedAssetTimetable", "assets": {"asset": "a"}, "late": "never"}, "late"),
            ({"type": "PartitionedAssetTimetable", "assets": {"asset": "a"}, "settle": "soon"}, "settle"),
            (
                {
                    "type": "PartitionedAssetTimetable",
                    "assets": {"asset": "a"},
                    "default_mapper": {
                        "type": "RollupMapper",
                        "upstream_mapper": {"type": "StartOfDayMapper"},
                        "window": {"type": "DayWindow", "direction": "sideways"},
                    },
                },
                "default_mapper.window.direction",
            ),
            (
                {
                    "type": "PartitionedAssetTimetable",
                    "assets": {"asset": "a"},
                    "mapper_config": [{"asset": {"asset": "a"}, "mapper": {"type": "DayWindow"}}],
                },
                "mapper_config[0].mapper.type",
            ),
            ({"type": "IdentityMapper"}, "type"),
            ({"type": "TimePartitions", "cadence": "day", "start": "2026-01-01"}, "type"),
            ({"type": "Nonsense"}, "type"),
            ({}, "type"),
        ],
    )
    def test_name_the_place_in_a_timetable(self, spec, path):
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load(spec, "timetable")
        assert refusal.value.path == path

    @pytest.mark.parametrize(
        ("exclusions", "path"),
        [
            (["0 0 0 * *"], "exclusions[0]"),
            (["2026-12-25", "2026-13-01"], "exclusions[1]"),
            ([{"type": "BusinessCalendar", "holidays": ["soon"]}], "exclusions[0].holidays[0]"),
            ([{"type": "BusinessCalendar", "weekend": ["caturday"]}], "exclusions[0].weekend"),
            ([{"type": "DayWindow"}], "exclusions[0].type"),
        ],
    )
    def test_name_the_place_in_exclusions(self, exclusions, path):
        spec = {"type": "TimePartitions", "cadence": "day", "start": "2026-01-01", "exclusions": exclusions}
        with pytest.raises(InvalidDefinition) as refusal:
            specs.load(spec, "partitions")
        assert refusal.value.path == path

    @pytest.mark.parametrize("kind", ["timetable", "partitions"])
    @pytest.mark.parametrize("spec", [None, [], "CronPartitionTimetable", 5])
    def test_take_only_objects(self, spec, kind):
        with pytest.raises(InvalidDefinition):
            specs.load(spec, kind)
