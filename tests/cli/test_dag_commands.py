"""Commands about Dags, what they wait for, their runs and backfills, run against the lab."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Backfill, Dag, DagRun, HeldRun, JournalEntry, LogLine
from scheduling import claims, ticks
from tests.engine import world

HOUR = "2026-03-10T09:00:00"


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

    @pytest.mark.parametrize(
        ("option", "told"), [("--asset", "no asset is called"), ("--dag", "no Dag is called")]
    )
    def test_a_misspelled_name_is_no_empty_list(self, refused, held, option, told):
        assert told in refused("held", option, "nosuch")

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
        DagRun.objects.filter(pk=run.pk).update(error="it failed\nTraceback\n  line \x1b[2J")
        told = partita("runs", "show", str(run.pk))
        assert "error           it failed\n\nTraceback\n  line \\x1b[2J\n" in told

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


class TestTrigger:
    def test_makes_a_run(self, partita, lab):
        told = partita("trigger", "lab_hourly_sales", HOUR, "--conf", '{"a": 1}', "--note", "again")
        run = DagRun.objects.get()
        assert told == f"lab_hourly_sales is queued for {HOUR}: run {run.pk}\n"
        assert (run.conf, run.note, run.triggered_by) == ({"a": 1}, "again", "cli")

    def test_says_why_it_cannot(self, refused, lab):
        assert "is not partitioned" in refused("trigger", "lab_plain", "k")
        assert refused("trigger", "lab_hourly_sales", "not-a-time").count("\n") == 1
        assert "every run of Dag lab_hourly_sales has one" in refused("trigger", "lab_hourly_sales")


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
