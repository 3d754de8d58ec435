"""What a script sees that knows nothing but the API: slices arrive, runs are held, fire, fail, run again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Dag, DagRun
from scheduling import claims, ticks


@pytest.fixture
def script(api, lab, settle):
    """A script that reports slices and asks what came of them."""

    class Script:
        def report(self, asset, *keys):
            for key in keys:
                body = {"asset_id": lab[asset].pk, "partition_key": key}
                assert api.post("/api/v2/assets/events", body).status_code == 200
            settle()

        def held(self, dag_id):
            url = f"/api/v2/heldRuns?dag_id={dag_id}&keys=true"
            return {row["partition_key"]: row for row in api.get(url).json()["held_runs"]}

        def runs(self, dag_id, **query):
            found = api.get(f"/api/v2/dags/{dag_id}/dagRuns", query).json()["dag_runs"]
            return [run["partition_key"] for run in found]

        def works(self, dag_id, error=""):
            """The oldest queued run of the Dag is executed."""
            run = DagRun.objects.filter(dag__dag_id=dag_id, state="queued").earliest("pk")
            claimed = claims.claim(run.pk, worker="w", now=timezone.now())
            if error:
                claims.fail(claimed, error, at=timezone.now())
            else:
                outputs = [
                    claims.Output(outlet.asset, task_id=outlet.task_id) for outlet in run.dag.outlets.all()
                ]
                claims.succeed(claimed, outputs, at=timezone.now())
            settle()
            return run

        def state(self, asset, key):
            url = f"/api/v2/assets/{lab[asset].pk}/partitions"
            [row] = api.get(url, {"partition_key": key}).json()["partitions"]
            return row

    return Script()


def hours(day, *numbers):
    return [f"{day}T{number:02}:00:00" for number in numbers]


class TestADayOfHours:
    def test_waits_for_the_last_one_and_fires_with_it(self, script):
        script.report("hourly_sales", *hours("2026-03-10", *range(23)))
        waiting = script.held("lab_daily_sales")["2026-03-10"]
        assert waiting["assets"][0]["missing_keys"] == ["2026-03-10T23:00:00"]
        assert script.runs("lab_daily_sales") == []
        script.report("hourly_sales", "2026-03-10T23:00:00")
        assert script.held("lab_daily_sales") == {}
        assert script.runs("lab_daily_sales") == ["2026-03-10"]

    def test_its_own_slice_appears_when_the_run_has_ended(self, script):
        script.report("hourly_sales", *hours("2026-03-10", *range(24)))
        script.works("lab_daily_sales")
        made = script.state("daily_sales_summary", "2026-03-10")
        assert (made["state"], made["last_attempt"]) == ("materialized", "success")
        assert made["dag_run_id"].startswith("asset_triggered__")

    def test_is_shown_failed_until_it_is_run_again(self, script, api):
        script.report("hourly_sales", *hours("2026-03-10", *range(24)))
        failed = script.works("lab_daily_sales", error="boom")
        assert script.state("daily_sales_summary", "2026-03-10")["state"] == "failed"
        url = f"/api/v2/dags/lab_daily_sales/dagRuns/{failed.run_id.replace('+', '%2B')}"
        assert "boom" in api.get(url).json()["error"]
        assert api.post(f"{url}/clear", {"dry_run": False}).json()["state"] == "queued"
        script.works("lab_daily_sales")
        assert script.state("daily_sales_summary", "2026-03-10")["state"] == "materialized"
        assert script.runs("lab_daily_sales") == ["2026-03-10"]

    def test_may_do_without_one(self, script):
        script.report("hourly_sales", *hours("2026-03-10", *range(23)))
        assert script.runs("lab_daily_sales_tolerant") == ["2026-03-10"]
        assert script.runs("lab_daily_sales") == []

    def test_days_do_not_wait_for_each_other(self, script):
        script.report("hourly_sales", *hours("2026-03-10", *range(12)), *hours("2026-03-11", *range(24)))
        assert script.runs("lab_daily_sales") == ["2026-03-11"]
        assert list(script.held("lab_daily_sales")) == ["2026-03-10"]

    def test_the_same_hour_twice_counts_once(self, script):
        script.report("hourly_sales", *hours("2026-03-10", *range(23)), "2026-03-10T00:00:00")
        assert script.held("lab_daily_sales")["2026-03-10"]["received_count"] == 23


class TestThreeRegions:
    def test_a_stray_one_is_told_apart(self, script):
        script.report("regional_orders", "tw", "eu")
        [asset] = script.held("lab_region_rollup")["all_regions"]["assets"]
        assert (asset["received_count"], asset["unexpected_keys"]) == (1, ["eu"])

    def test_start_anew_when_all_have_come_again(self, script):
        """`late="restart"` is Airflow's way: after a firing everything must come once more."""
        script.report("regional_orders", "tw", "jp", "us")
        script.report("regional_orders", "tw")
        second = script.held("lab_region_rollup")["all_regions"]
        assert (second["round"], script.runs("lab_region_rollup")) == (2, ["all_regions"])
        script.report("regional_orders", "jp", "us")
        assert script.runs("lab_region_rollup") == ["all_regions", "all_regions"]

    def test_their_run_names_what_it_was_made_from(self, script, api):
        script.report("regional_orders", "tw", "jp", "us")
        [run] = api.get("/api/v2/dags/lab_region_rollup/dagRuns").json()["dag_runs"]
        url = f"/api/v2/dags/lab_region_rollup/dagRuns/{run['dag_run_id'].replace('+', '%2B')}"
        consumed = api.get(f"{url}/upstreamAssetEvents").json()["asset_events"]
        assert sorted(event["partition_key"] for event in consumed) == ["jp", "tw", "us"]
        assert all(event["created_dagruns"][0]["run_id"] == run["dag_run_id"] for event in consumed)


class TestThreeAssets:
    def test_meet_in_a_key(self, script):
        script.report("sales_data", "2024-01-15", "2024-01-16")
        script.report("inventory_data", "2024-01-15")
        script.report("pricing_data", "2024-01-16")
        assert script.runs("lab_and_of_three") == []
        script.report("pricing_data", "2024-01-15")
        assert script.runs("lab_and_of_three") == ["2024-01-15"]
        assert "inventory_data" in script.held("lab_and_of_three")["2024-01-16"]["sentence"]


class TestAPausedDag:
    def test_counts_what_comes_and_runs_when_it_may(self, script, api, settle):
        api.patch("/api/v2/dags/lab_region_rollup", {"is_paused": True})
        script.report("regional_orders", "tw", "jp", "us")
        assert script.held("lab_region_rollup")["all_regions"]["verdict"] == "paused"
        api.patch("/api/v2/dags/lab_region_rollup", {"is_paused": False})
        settle()
        assert script.runs("lab_region_rollup") == ["all_regions"]


class TestAnEventThatStartsNothing:
    def test_says_so_where_people_look(self, script, api):
        script.report("regional_orders", None)
        script.report("hourly_sales", "not-a-date")
        problems = ["missing partition key", "failed to map partition_key"]
        logs = api.get("/api/v2/eventLogs", {"included_events": problems})
        told = [(log["event"], log["dag_id"]) for log in logs.json()["event_logs"]]
        assert ("missing partition key", "lab_region_rollup") in told
        assert ("failed to map partition_key", "lab_daily_sales") in told
        assert api.get("/api/v2/heldRuns").json()["total_entries"] == 0

    def test_holds_nothing_else_up(self, script):
        script.report("hourly_sales", "not-a-date", *hours("2026-03-10", *range(24)))
        assert script.runs("lab_daily_sales") == ["2026-03-10"]


class TestADagWithoutPartitions:
    def test_starts_when_each_asset_has_had_an_event_without_a_key(self, script):
        script.report("sales_data", "2024-01-15", None)
        assert script.runs("lab_plain_consumer") == []
        script.report("plain_asset", None)
        assert script.runs("lab_plain_consumer") == [None]


class TestACron:
    def test_makes_a_run_for_each_tick(self, script, api):
        start = timezone.now().replace(minute=0, second=0, microsecond=0)
        Dag.objects.filter(dag_id="lab_hourly_sales").update(
            next_tick_at=start, ticked_until=start - timedelta(hours=1)
        )
        ticks.advance(now=start + timedelta(minutes=1))
        [run] = api.get("/api/v2/dags/lab_hourly_sales/dagRuns").json()["dag_runs"]
        assert (run["run_type"], run["triggered_by"]) == ("scheduled", "timetable")
        assert run["partition_key"] == f"{start:%Y-%m-%dT%H:%M:%S}"
        found = api.get("/api/v2/dags/lab_hourly_sales").json()
        assert found["next_dagrun_run_after"] == f"{start + timedelta(hours=1):%Y-%m-%dT%H:%M:%SZ}"
