"""Runs, by the official Python client of Airflow."""

from datetime import UTC, date, datetime

import pytest
from airflow_client import client as airflow
from airflow_client.client.api import DagRunApi
from airflow_client.client.exceptions import NotFoundException
from django.utils import timezone

from core.models import DagRun
from scheduling import claims

pytestmark = pytest.mark.django_db(transaction=True)


def end(run_id):
    run = claims.claim(DagRun.objects.get(run_id=run_id).pk, worker="w", now=timezone.now())
    claims.succeed(run, [], at=timezone.now())


class TestRuns:
    @pytest.fixture
    def run(self, client):
        body = airflow.TriggerDAGRunPostBody(
            partition_key="2026-03-10T09:00:00", conf={"a": 1}, note="by hand"
        )
        return DagRunApi(client).trigger_dag_run("lab_hourly_sales", body)

    def test_are_triggered_by_key(self, run):
        assert run.state == airflow.DagRunState.QUEUED
        assert run.partition_date == datetime(2026, 3, 10, 9, tzinfo=UTC)

    def test_are_found_by_their_id(self, client, run):
        assert "+" in run.dag_run_id
        found = DagRunApi(client).get_dag_run("lab_hourly_sales", run.dag_run_id)
        assert (found.conf, found.note) == ({"a": 1}, "by hand")

    @pytest.mark.parametrize(
        "narrowed",
        [
            {"partition_key_pattern": "T09"},
            {"partition_key_prefix_pattern": "2026-03"},
            {"partition_date_gte": date(2026, 3, 10), "partition_date_lte": date(2026, 3, 10)},
            {"state": ["queued"], "run_type": ["manual"]},
            {"run_after_gte": datetime(2020, 1, 1, tzinfo=UTC)},
            {"triggering_user_name_pattern": "editor"},
            {"order_by": ["-partition_date", "duration"]},
        ],
        ids=lambda narrowed: "+".join(narrowed),
    )
    def test_are_narrowed(self, client, run, narrowed):
        found = DagRunApi(client).get_dag_runs("lab_hourly_sales", **narrowed)
        assert [each.dag_run_id for each in found.dag_runs] == [run.dag_run_id]

    def test_have_pages(self, client, run):
        runs = DagRunApi(client)
        runs.trigger_dag_run("lab_plain", airflow.TriggerDAGRunPostBody())
        first = runs.get_dag_runs("~", cursor="", limit=1)
        second = runs.get_dag_runs("~", cursor=first.next_cursor, limit=1)
        assert [page.dag_runs[0].dag_id for page in (first, second)] == ["lab_hourly_sales", "lab_plain"]
        assert second.next_cursor is None

    def test_are_asked_for_by_a_body(self, client, run):
        body = airflow.DAGRunsBatchBody(dag_ids=["lab_hourly_sales"], states=["queued"], page_limit=5)
        assert DagRunApi(client).get_list_dag_runs_batch("~", body).total_entries == 1

    def test_are_marked_cleared_and_deleted(self, client, run):
        runs = DagRunApi(client)
        end(run.dag_run_id)
        name = ("lab_hourly_sales", run.dag_run_id)
        assert runs.patch_dag_run(*name, airflow.DAGRunPatchBody(state="failed", note="no")).note == "no"
        # Not as a dry run: this client cannot read what Airflow itself answers to one (wire/162).
        real = runs.clear_dag_run(*name, airflow.DAGRunClearBody(dry_run=False)).actual_instance
        assert real.state == airflow.DagRunState.QUEUED
        runs.delete_dag_run(*name)
        with pytest.raises(NotFoundException):
            runs.get_dag_run(*name)

    def test_are_cleared_by_key(self, client, run):
        end(run.dag_run_id)
        body = airflow.BulkDAGRunClearBody(partition_key="2026-03-10T09:00:00", dry_run=False)
        cleared = DagRunApi(client).clear_dag_runs("lab_hourly_sales", body).actual_instance
        assert [each.state for each in cleared.dag_runs] == [airflow.DagRunState.QUEUED]

    def test_lose_their_partition(self, client, run):
        body = airflow.ClearPartitionsBody(partition_key="2026-03-10T09:00:00", dry_run=False)
        assert DagRunApi(client).clear_dag_run_partitions("lab_hourly_sales", body).dag_runs_cleared == 1
        assert DagRunApi(client).get_dag_run("lab_hourly_sales", run.dag_run_id).partition_key is None

    def test_name_the_events_they_consumed(self, client, report):
        report("regional_orders", "tw", "jp", "us")
        runs = DagRunApi(client)
        [run] = runs.get_dag_runs("lab_region_rollup").dag_runs
        found = runs.get_upstream_asset_events("lab_region_rollup", run.dag_run_id)
        assert {event.partition_key for event in found.asset_events} == {"tw", "jp", "us"}
