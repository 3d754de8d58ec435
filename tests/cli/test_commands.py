"""Each command of `partita`, run against the lab."""

import io
from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import AssetEvent, Backfill, Dag, DagRun, HeldRun, JournalEntry, LogLine
from scheduling import claims, ticks
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import DynamicPartitions, StaticPartitions
from scheduling.algebra.time_partitions import DailyPartitions
from tests.engine import world
from tests.engine.world import asset

HOUR = "2026-03-10T09:00:00"


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
        assert row == {"partition_key": "2026-02-01", "state": "materialized"}
        assert "stands alone" in refused("partitions", "days", "--state", "unexpected", "--ranges")

    def test_none(self, partita, days):
        assert partita("partitions", "days", "--state", "failed") == "days has no such partitions.\n"


class TestHeld:
    @pytest.fixture
    def held(self, partita, lab, settle):
        partita("emit", "regional_orders", "tw", "jp")
        settle()
        return HeldRun.objects.get()

    def test_says_what_waits_and_why(self, partita, held):
        [row] = partita("held", as_json=True)
        assert (row["verdict"], row["sentence"]) == ("waiting", "waiting on 1 of 3: key us")
        assert "waiting on 1 of 3: key us" in partita("held", "--dag", "lab_region_rollup")

    def test_says_what_it_did_not_find(self, partita, held):
        assert partita("held", "--late") == "Nothing that waits is late.\n"
        for narrowed in (("--asset", "plain_asset"), ("--late", "--dag", "lab_region_rollup")):
            assert partita("held", *narrowed) == "There are no such held runs.\n"
        held.delete()
        assert partita("held") == "Nothing waits.\n"

    def test_one_with_its_keys(self, partita, held):
        row = partita("held", "show", str(held.pk), as_json=True)
        assert row["assets"][0]["missing_keys"] == ["us"]
        assert "us" in partita("held", "show", str(held.pk))

    def test_fire(self, partita, held):
        told = partita("held", "fire", str(held.pk), "--by", "ann", "--reason", "us is closed")
        run = DagRun.objects.get()
        assert told == f"lab_region_rollup runs for all_regions, without 1 key: run {run.pk}\n"
        entry = JournalEntry.objects.filter(by="ann").latest("pk")
        assert (entry.via, entry.reason) == ("cli", "us is closed")

    def test_cancel_once(self, partita, refused, held):
        partita("held", "cancel", str(held.pk))
        assert HeldRun.objects.get().state == "cancelled"
        assert refused("held", "cancel", str(held.pk)).startswith("partita: ")

    def test_reevaluate(self, partita, held):
        assert "waiting" in partita("held", "reevaluate", str(held.pk))

    def test_one_that_is_not_there(self, refused, lab):
        assert "there is no held run 4711" in refused("held", "show", "4711")


class TestDags:
    def test_are_listed(self, partita, lab):
        rows = {row["dag_id"]: row for row in partita("dags", as_json=True)}
        assert rows["lab_hourly_sales"]["schedule"].startswith("every hour")
        assert "lab_plain" in partita("dags", "--match", "PLAIN")

    def test_one_with_what_is_wrong_with_it(self, partita, lab):
        row = partita("dags", "show", "lab_plain_consumer", as_json=True)
        assert row["listens_to"] == ["plain_asset", "sales_data"]
        assert [each["code"] for each in row["problems"]] == ["keyed-events"]
        assert "warning: events of" in partita("dags", "show", "lab_plain_consumer")

    def test_pause_and_unpause(self, partita, lab):
        assert partita("dags", "pause", "lab_plain") == "lab_plain is paused\n"
        assert partita("dags", "pause", "lab_plain") == "lab_plain is paused, as it was\n"
        assert Dag.objects.get(dag_id="lab_plain").is_paused
        assert partita("dags", "unpause", "lab_plain", as_json=True)["is_paused"] is False

    @pytest.mark.parametrize(("options", "count"), [(["--make-up"], 3), ([], 0)])
    def test_unpausing_makes_up_what_was_missed_only_if_asked(self, partita, options, count):
        since = timezone.now() - timedelta(hours=3)
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        made = world.dag("ingest", hourly, is_paused=True, ticked_until=since, start_date=since)
        said = "made up" if count else "passed over"
        assert partita("dags", "unpause", "ingest", *options) == (
            f"ingest is unpaused; 3 missed ticks are {said}\n"
        )
        ticks.advance(now=timezone.now())
        assert made.runs.count() == count
        assert partita("dags", "unpause", "ingest") == "ingest is unpaused, as it was\n"

    def test_why_a_partition_has_not_run(self, partita, lab):
        told = partita("explain", "lab_region_rollup", "all_regions")
        assert told.splitlines()[0] == "lab_region_rollup all_regions: awaited"


class TestRuns:
    @pytest.fixture
    def run(self, partita, lab):
        partita("trigger", "lab_hourly_sales", HOUR)
        return DagRun.objects.get()

    def test_are_listed(self, partita, run):
        [row] = partita("runs", "--state", "queued", "--key", "2026-03", as_json=True)
        assert (row["id"], row["partition_key"]) == (run.pk, HOUR)
        assert partita("runs", "--dag", "lab_plain") == "There are no such runs.\n"

    def test_one(self, partita, run):
        assert partita("runs", "show", str(run.pk), as_json=True)["run_id"] == run.run_id

    def test_its_log(self, partita, run):
        LogLine.objects.create(run=run, attempt=1, task_id="produce", at=timezone.now(), text="42 rows")
        assert "produce  42 rows" in partita("runs", "log", str(run.pk))

    def test_cancel_and_retry(self, partita, refused, run):
        assert "is cancelled" in partita("runs", "cancel", str(run.pk))
        assert "nothing to cancel" in refused("runs", "cancel", str(run.pk))
        assert "is queued again" in partita("runs", "retry", str(run.pk))

    def test_one_that_runs_is_asked_to_stop(self, partita, run):
        claims.claim(run.pk, worker="w", now=timezone.now())
        assert "asked to stop" in partita("runs", "cancel", str(run.pk))


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


class TestTrigger:
    def test_makes_a_run(self, partita, lab):
        told = partita("trigger", "lab_hourly_sales", HOUR, "--conf", '{"a": 1}', "--note", "again")
        run = DagRun.objects.get()
        assert told == f"lab_hourly_sales is queued for {HOUR}: run {run.pk}\n"
        assert (run.conf, run.note, run.triggered_by) == ({"a": 1}, "again", "cli")

    def test_says_why_it_cannot(self, refused, lab):
        assert "is not partitioned" in refused("trigger", "lab_plain", "k")
        assert refused("trigger", "lab_hourly_sales", "not-a-time").count("\n") == 1


class TestKeys:
    def test_are_added_listed_and_removed(self, partita, lab):
        asset("stores", partitions=specs.dump(DynamicPartitions("stores")))
        assert partita("keys", "add", "stores", "b", "a") == "2 keys added, 2 there now\n"
        assert partita("keys", "list", "stores").split() == ["b", "a"]
        assert partita("keys", "list").split() == ["stores"]
        assert partita("keys", "add", "stores", "c") == "1 key added, 3 there now\n"
        partita("keys", "remove", "stores", "c")
        assert partita("keys", "remove", "stores", "b", as_json=True) == {"removed": ["b"], "count": 1}

    def test_of_which_there_are_none(self, partita, lab):
        assert partita("keys", "list") == "There are no dynamic partitions.\n"
        asset("stores", partitions=specs.dump(DynamicPartitions("stores")))
        assert partita("keys", "list", "stores") == "stores has no keys.\n"
        assert partita("keys", "list", "stores", as_json=True) == []

    def test_of_partitions_that_nobody_has(self, refused, lab):
        assert refused("keys", "add", "nope", "a").startswith("partita: ")


class TestBackfill:
    @pytest.fixture
    def words(self, lab):
        return ["lab_hourly_sales", "--select", "[2026-02-18T00:00:00...2026-02-18T02:00:00]"]

    def test_plan_start_show_and_steer(self, partita, words):
        plan = partita("backfill", "plan", *words, as_json=True)
        assert [each["partition_key"][11:13] for each in plan["keys"]] == ["00", "01", "02"]
        row = partita("backfill", "start", *words, "--plan", plan["plan"], as_json=True)
        assert (row["planned"], row["open"]) == (3, 3)
        one = partita("backfill", "plan", "lab_hourly_sales", "--key", "2026-02-18T03:00:00")
        assert one.startswith("lab_hourly_sales: 1 key: 2026-02-18T03:00:00")
        pk = str(Backfill.objects.get().pk)
        assert partita("backfill", "pause", pk, as_json=True)["status"] == "paused"
        assert partita("backfill", "show", pk, as_json=True)["dags"][0]["dag_id"] == "lab_hourly_sales"
        assert partita("backfill", "list", as_json=True)[0]["dag_ids"] == ["lab_hourly_sales"]
        assert partita("backfill", "cancel", pk).startswith(f"backfill {pk}: ")

    def test_of_which_there_are_none(self, partita, lab):
        assert partita("backfill", "list") == "There are no backfills.\n"
        assert partita("backfill", "list", "--dag", "lab_plain") == "There are no such backfills.\n"
        assert partita("backfill", "list", as_json=True) == []

    def test_points_at_what_is_wrong(self, refused, lab):
        told = refused("backfill", "plan", "lab_hourly_sales", "--select", "[2026-02-18T00:00:00..")
        assert told.splitlines()[-1].strip() == "^"
