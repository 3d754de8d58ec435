"""Timetables of consumers and of Dags that name their keys themselves."""

from datetime import timedelta

import pytest

from scheduling.algebra.conditions import AssetLeaf, AssetRef
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper
from scheduling.algebra.timetables import AssetTimetable, PartitionedAssetTimetable, PartitionedAtRuntime
from tests.moments import utc

SALES, TARGETS = AssetLeaf("hourly_sales"), AssetLeaf("daily_targets")


class TestPartitionedAtRuntime:
    def test_has_no_cadence_and_still_takes_keys(self):
        runtime = PartitionedAtRuntime()
        assert (runtime.periodic, runtime.partitioned, runtime.at_runtime) == (False, False, True)
        assert runtime.accept_key("tw") == "tw"
        assert runtime.resolve("tw") is None
        assert runtime.summary == "PartitionedAtRuntime"
        assert runtime.words() == "when triggered, partition keys named by the run"

    @pytest.mark.parametrize("key", ["", " ", "\t", "x" * 251, ["a"], 5])
    def test_takes_only_what_can_be_a_key(self, key):
        with pytest.raises(InvalidKey):
            PartitionedAtRuntime().accept_key(key)

    def test_needs_no_key(self):
        assert PartitionedAtRuntime().accept_key(None) is None


class TestAssetTimetable:
    def test_says_that_keyed_events_will_not_start_it(self):
        (warning,) = AssetTimetable(SALES & TARGETS).warnings()
        assert (
            warning == "events of hourly_sales and daily_targets that have a partition key will not start it"
        )

    def test_is_silent_when_it_takes_them(self):
        assert AssetTimetable(SALES, accept_partitioned=True).warnings() == ()

    def test_takes_no_key_by_hand(self):
        with pytest.raises(InvalidKey, match="not partitioned"):
            AssetTimetable(SALES).accept_key("2026-03-10")

    def test_words(self):
        assert AssetTimetable(SALES | TARGETS).words() == (
            "on events without a partition key of hourly_sales or daily_targets"
        )

    @pytest.mark.parametrize("assets", ["hourly_sales", [SALES], None])
    def test_needs_one_asset_expression(self, assets):
        with pytest.raises(InvalidDefinition) as refusal:
            AssetTimetable(assets)
        assert refusal.value.path == "assets"


class TestMapperFor:
    TIMETABLE = PartitionedAssetTimetable(
        SALES & TARGETS & AssetRef(name="odds") & AssetRef(uri="s3://lake/stock"),
        default_partition_mapper=StartOfDayMapper(),
        partition_mapper_config={
            TARGETS: IdentityMapper(),
            AssetRef(name="hourly_sales"): StartOfHourMapper(),
            AssetLeaf("odds"): FixedKeyMapper("odds"),
            AssetRef(uri="s3://lake/stock"): FixedKeyMapper("stock"),
        },
    )

    def test_is_the_one_configured_for_the_asset(self):
        assert self.TIMETABLE.mapper_for(TARGETS) == IdentityMapper()

    def test_by_name_an_asset_and_a_reference_are_the_same(self):
        assert self.TIMETABLE.mapper_for(SALES) == StartOfHourMapper()
        assert self.TIMETABLE.mapper_for(AssetRef(name="odds")) == FixedKeyMapper("odds")

    def test_by_uri_it_is_found_for_the_reference_and_for_the_asset_it_turned_out_to_be(self):
        assert self.TIMETABLE.mapper_for(AssetRef(uri="s3://lake/stock")) == FixedKeyMapper("stock")
        assert self.TIMETABLE.mapper_for(AssetLeaf("stock"), uri="s3://lake/stock") == FixedKeyMapper("stock")
        named = self.TIMETABLE.mapper_for(AssetRef(uri="s3://other"), name="daily_targets")
        assert named == IdentityMapper()

    def test_is_the_default_otherwise(self):
        assert self.TIMETABLE.mapper_for(AssetLeaf("unheard of")) == StartOfDayMapper()
        assert PartitionedAssetTimetable(SALES).mapper_for(SALES) == IdentityMapper()

    def test_the_last_entry_for_an_asset_wins(self):
        config = ((SALES, FixedKeyMapper("a")), (SALES, FixedKeyMapper("b")))
        timetable = PartitionedAssetTimetable(SALES, partition_mapper_config=config)
        assert timetable.mapper_for(SALES) == FixedKeyMapper("b")


class TestPartitionedAssetTimetable:
    def test_takes_the_older_name_of_the_default_mapper(self):
        older = PartitionedAssetTimetable(SALES, partition_mapper=StartOfDayMapper())
        assert older == PartitionedAssetTimetable(SALES, default_partition_mapper=StartOfDayMapper())

    def test_equal_definitions_are_equal_and_hash_alike(self):
        a, b = (
            PartitionedAssetTimetable(
                SALES & TARGETS, partition_mapper_config={TARGETS: AllowedKeyMapper(["x"])}
            )
            for _ in range(2)
        )
        assert a == b
        assert hash(a) == hash(b)

    @pytest.mark.parametrize(
        ("fields", "path"),
        [
            ({"late": "never"}, "late"),
            ({"settle": timedelta(seconds=-1)}, "settle"),
            ({"settle": "soon"}, "settle"),
            ({"late_after": "0h"}, "late_after"),
            ({"default_partition_mapper": "identity"}, "default_partition_mapper"),
            ({"default_partition_mapper": IdentityMapper}, "default_partition_mapper"),
            ({"partition_mapper_config": {SALES & TARGETS: IdentityMapper()}}, "partition_mapper_config"),
            ({"partition_mapper_config": {"hourly_sales": IdentityMapper()}}, "partition_mapper_config"),
            ({"partition_mapper_config": {SALES: "identity"}}, "partition_mapper_config"),
            ({"partition_mapper_config": 5}, "partition_mapper_config"),
        ],
    )
    def test_refuses_what_cannot_work(self, fields, path):
        with pytest.raises(InvalidDefinition) as refusal:
            PartitionedAssetTimetable(SALES, **fields)
        assert refusal.value.path == path

    @pytest.mark.parametrize("settle", [timedelta(0), 0])
    def test_may_settle_at_once(self, settle):
        assert PartitionedAssetTimetable(SALES, settle=settle).settle == timedelta(0)

    def test_reads_spans_as_people_write_them(self):
        timetable = PartitionedAssetTimetable(SALES, settle="90s", late_after="6h")
        assert (timetable.settle, timetable.late_after) == (timedelta(seconds=90), timedelta(hours=6))

    def test_warns_of_a_format_that_gives_a_repeated_hour_one_name(self):
        mapper = StartOfHourMapper(timezone="America/New_York")
        timetable = PartitionedAssetTimetable(SALES & TARGETS, default_partition_mapper=mapper)
        (warning,) = timetable.warnings(utc("2026-03-10T00:00"))
        assert "2026-11-01" in warning

    def test_faces(self):
        timetable = PartitionedAssetTimetable(SALES & TARGETS)
        assert (timetable.periodic, timetable.partitioned, timetable.at_runtime) == (False, True, False)
        assert timetable.summary == "Partitioned Asset"
        assert timetable.words() == "when hourly_sales and daily_targets have the same partition"
        assert PartitionedAssetTimetable(SALES).words() == "when a partition of hourly_sales has arrived"


class TestResolve:
    def test_is_the_one_date_that_the_mappers_see(self):
        timetable = PartitionedAssetTimetable(
            SALES & TARGETS, partition_mapper_config={SALES: StartOfDayMapper()}
        )
        assert timetable.resolve("2026-03-10") == utc("2026-03-10T00:00")

    def test_is_none_for_keys_without_time(self):
        assert PartitionedAssetTimetable(SALES).resolve("2026-03-10") is None

    def test_is_none_when_mappers_see_different_ones(self):
        config = {SALES: StartOfDayMapper(), TARGETS: StartOfDayMapper(timezone="America/New_York")}
        timetable = PartitionedAssetTimetable(SALES & TARGETS, partition_mapper_config=config)
        assert timetable.resolve("2026-03-10") is None

    @pytest.mark.parametrize("key", ["bad", "2026-03-10T09", "us|2026-03-10", ""])
    def test_refuses_a_key_that_a_mapper_cannot_produce(self, key):
        timetable = PartitionedAssetTimetable(
            SALES & TARGETS, partition_mapper_config={SALES: StartOfDayMapper()}
        )
        with pytest.raises(InvalidKey):
            timetable.resolve(key)

    def test_unless_another_asset_alone_may_start_a_run_with_it(self):
        either = PartitionedAssetTimetable(
            SALES | TARGETS, partition_mapper_config={SALES: StartOfDayMapper()}
        )
        assert either.resolve("us") is None
        assert either.resolve("2026-03-10") == utc("2026-03-10T00:00")
