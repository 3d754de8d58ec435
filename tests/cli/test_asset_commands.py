"""Commands about assets, their partitions, events and keys, run against the lab."""

import io

import pytest

from core.models import AssetEvent, Partition
from scheduling import runs
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from scheduling.runs import Ask
from tests.engine.world import ALICE, NOW, asset, dag


class TestAssets:
    def test_are_listed_with_their_partitions(self, partita, lab):
        partita("emit", "regional_orders", "tw", "jp")
        told = partita("assets", "--match", "regional")
        assert told.splitlines()[0].split() == ["ASSET", "PARTITIONS", "NEWEST", "SINCE", "GROUP"]
        assert "regional_orders  2 materialized" in told
        [row] = partita("assets", "--match", "regional", as_json=True)
        assert row["partitions"] == {"materialized": 2}

    def test_one_says_who_writes_it_and_who_listens(self, partita, lab):
        row = partita("assets", "regional_orders", as_json=True)
        assert row["written_by"] == ["lab_ingest_regional_orders"]
        assert row["listened_to_by"] == ["lab_region_rollup"]
        assert "s3://lab/regional_orders" in partita("assets", "s3://lab/regional_orders")

    def test_one_that_is_not_there(self, refused, lab):
        assert refused("assets", "nope") == "partita: no asset is called nope: `partita assets` lists them\n"

    def test_those_that_are_gone_only_if_asked(self, partita, lab):
        type(lab["plain_asset"]).objects.filter(name="plain_asset").update(is_active=False)
        assert "plain_asset" not in partita("assets")
        assert "plain_asset" in partita("assets", "--all")


class TestPartitions:
    @pytest.fixture
    def days(self, lab):
        return asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", end="2026-03-06")))

    def test_are_told_key_by_key(self, partita, days):
        partita("emit", "days", "2026-03-02")
        rows = partita("partitions", "days", as_json=True)
        assert [row["state"] for row in rows] == ["missing", "materialized", "missing", "missing", "missing"]
        assert "2026-03-02  materialized" in partita("partitions", "days", "--state", "materialized")

    def test_are_told_with_the_time_of_their_data_and_their_run(self, partita, days):
        """One that failed and has data of before looks otherwise than one without any."""
        partita("emit", "days", "2026-03-02")
        run = runs.trigger(dag("d", {"type": "PartitionedAtRuntime"}), Ask("2026-03-02"), deed=ALICE, at=NOW)
        Partition.objects.update(state="failed", attempt_run=run)
        rows = partita("partitions", "days", as_json=True)
        part = Partition.objects.get()
        assert [row["run"] for row in rows] == [None, run.pk, None, None, None]
        assert rows[1]["data_at"].startswith(f"{part.data_at:%Y-%m-%dT%H:%M:%S}")
        assert rows[0]["data_at"] is None
        assert partita("partitions", "days").split("\n")[0].split() == ["KEY", "STATE", "DATA", "OF", "RUN"]

    def test_that_are_in_no_definition_are_counted_with_the_asset(self, partita, days):
        partita("emit", "days", "2026-03-02", "elsewhere")
        assert "1 materialized, 4 missing, 1 unexpected" in partita("assets", "days")

    def test_as_ranges(self, partita, days):
        partita("emit", "days", "2026-03-02")
        rows = partita("partitions", "days", "--ranges", "--state", "missing", as_json=True)
        assert [(row["first_key"], row["last_key"], row["count"]) for row in rows] == [
            ("2026-03-01", "2026-03-01", 1),
            ("2026-03-03", "2026-03-05", 3),
        ]

    @pytest.mark.parametrize("end", ["2026-03-04", None])
    def test_as_ranges_of_each_value_of_the_other_dimensions(self, partita, lab, end):
        days = DailyPartitions("2026-03-01", end=end)
        both = MultiPartitions({"city": StaticPartitions(["seattle", "sf"]), "day": days})
        asset("weather", partitions=specs.dump(both))
        partita("emit", "weather", "sf|2026-03-02")
        words = ("--ranges", "--state", "missing", "--select", "*|[2026-03-01...2026-03-03]")
        rows = partita("partitions", "weather", *words, as_json=True)
        assert [(row["first_key"], row["last_key"], row["count"]) for row in rows] == [
            ("seattle|2026-03-01", "seattle|2026-03-03", 3),
            ("sf|2026-03-01", "sf|2026-03-01", 1),
            ("sf|2026-03-03", "sf|2026-03-03", 1),
        ]

    def test_as_ranges_without_time(self, partita, lab):
        both = MultiPartitions({"shop": StaticPartitions(["x", "y"]), "size": StaticPartitions(["l", "m"])})
        asset("stock", partitions=specs.dump(both))
        rows = partita("partitions", "stock", "--ranges", as_json=True)
        assert [(row["first_key"], row["last_key"]) for row in rows] == [("x|l", "x|m"), ("y|l", "y|m")]

    def test_that_a_selection_means(self, partita, refused, days):
        rows = partita("partitions", "days", "--select", "[2026-03-04...]", as_json=True)
        assert [row["partition_key"] for row in rows] == ["2026-03-04", "2026-03-05"]
        assert "^" in refused("partitions", "days", "--select", "[2026-03-04..")

    def test_that_the_definition_does_not_have(self, partita, refused, days):
        assert "has no key that its definition does not have" in partita(
            "partitions", "days", "--state", "unexpected"
        )
        partita("emit", "days", "2026-02-01", "2026-03-02")
        [row] = partita("partitions", "days", "--state", "unexpected", as_json=True)
        assert (row["partition_key"], row["state"]) == ("2026-02-01", "materialized")
        assert "stands alone" in refused("partitions", "days", "--state", "unexpected", "--ranges")

    def test_none(self, partita, days):
        assert partita("partitions", "days", "--state", "failed") == "days has no such partitions.\n"


class TestEmit:
    def test_several_keys_at_once(self, partita, lab):
        answer = partita("emit", "regional_orders", "tw", "jp", "--extra", '{"rows": 3}', as_json=True)
        assert (answer["recorded"], len(answer["event_ids"])) == (2, 2)
        assert [event.extra for event in AssetEvent.objects.all()] == [{"rows": 3}] * 2

    def test_keys_from_standard_input(self, partita, lab, monkeypatch):
        monkeypatch.setattr("sys.stdin", io.StringIO("tw\n\n a b\r\n".replace(" a b", "a b")))
        partita("emit", "regional_orders", "-")
        assert list(AssetEvent.objects.values_list("partition_key", flat=True)) == ["tw", "a b"]

    def test_twice_with_one_name_counts_once(self, partita, lab):
        for _ in range(2):
            told = partita("emit", "regional_orders", "tw", "--idempotency-key", "load-7")
        assert told == "0 events of regional_orders recorded, 1 were there before\n"

    def test_one_name_for_two_things_is_refused(self, partita, refused, lab):
        partita("emit", "regional_orders", "tw", "--idempotency-key", "load-7")
        told = refused("emit", "regional_orders", "jp", "--idempotency-key", "load-7")
        assert "the idempotency key 'load-7' was used" in told
        assert AssetEvent.objects.get().partition_key == "tw"

    def test_without_a_key_only_if_it_is_said(self, partita, refused, lab):
        assert "--without-key" in refused("emit", "plain_asset")
        assert "--without-key" in refused("emit", "plain_asset", "k", "--without-key")
        partita("emit", "plain_asset", "--without-key")
        assert AssetEvent.objects.get().partition_key is None

    def test_a_key_that_a_dag_cannot_count_is_said_and_recorded(self, partita, lab):
        told = partita("emit", "hourly_sales", "2026-03-10T09:00:00", "noon")
        first, *rest = told.splitlines()
        assert first == "2 events of hourly_sales recorded"
        assert rest
        assert all(line.startswith("  not counted by ") and "noon" in line for line in rest)
        [uncounted, *_] = partita("emit", "hourly_sales", "noon", as_json=True)["not_counted"]
        assert uncounted["partition_key"] == "noon"
        assert AssetEvent.objects.count() == 3

    def test_a_key_that_cannot_be_one(self, refused, lab):
        assert refused("emit", "regional_orders", " tw").startswith("partita: ")
        assert not AssetEvent.objects.exists()


class TestKeys:
    def test_are_added_listed_and_removed(self, partita, lab):
        asset("stores", partitions=specs.dump(DynamicPartitions("stores")))
        assert partita("keys", "add", "stores", "b", "a") == "2 keys added, 2 there now\n"
        assert partita("keys", "list", "stores").split() == ["b", "a"]
        assert partita("keys", "list").split() == partita("keys").split() == ["stores"]
        assert partita("keys", "add", "stores", "c") == "1 key added, 3 there now\n"
        partita("keys", "remove", "stores", "c")
        assert partita("keys", "remove", "stores", "b", as_json=True) == {"removed": ["b"], "count": 1}

    def test_of_which_there_are_none(self, partita, lab):
        assert partita("keys", "list") == "There are no dynamic partitions.\n"
        asset("stores", partitions=specs.dump(DynamicPartitions("stores")))
        assert partita("keys", "list", "stores") == "stores has no keys.\n"
        assert partita("keys", "list", "stores", as_json=True) == []

    def test_of_a_name_that_nothing_has_are_refused(self, refused, lab):
        assert "no dynamic partitions are called 'nosuch'" in refused("keys", "list", "nosuch")

    def test_of_partitions_that_nobody_has(self, refused, lab):
        assert refused("keys", "add", "nope", "a").startswith("partita: ")
