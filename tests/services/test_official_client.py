"""The official Python client of Airflow, unchanged, against `manage.py up`: engine, web and all."""

from datetime import UTC, datetime
from pathlib import Path

import pytest
from airflow_client import client as airflow
from airflow_client.client.api import (
    AssetApi,
    BackfillApi,
    DAGApi,
    DagRunApi,
    EventLogApi,
    MonitorApi,
    VersionApi,
)
from airflow_client.client.exceptions import ConflictException, NotFoundException, UnauthorizedException

from tests.installed import LOGIN, Installation

pytestmark = [pytest.mark.services]

LAB = Path(__file__).parents[1] / "api" / "lab.py"
ROLLUP = "lab_region_rollup"


@pytest.fixture(scope="module")
def installation(tmp_path_factory):
    options = ("--no-demo", "--definitions", str(LAB), "--user", ":".join(LOGIN))
    installation = Installation(tmp_path_factory.mktemp("client") / "var", *options)
    try:
        installation.start()
        installation.sign_in()
        yield installation
    finally:
        installation.kill_everything()


@pytest.fixture
def client(installation):
    host = installation.address().rstrip("/")
    return airflow.ApiClient(airflow.Configuration(host=host, access_token=installation.token))


def report(client, name, *keys):
    [asset] = AssetApi(client).get_assets(name_pattern=name).assets
    for key in keys:
        AssetApi(client).create_asset_event(
            airflow.CreateAssetEventsBody(asset_id=asset.id, partition_key=key)
        )


def test_three_regions_reported_are_one_run_that_ends_and_writes_its_asset(installation, client):
    report(client, "regional_orders", "tw", "jp")
    assert DagRunApi(client).get_dag_runs(ROLLUP).total_entries == 0
    report(client, "regional_orders", "us")
    runs = DagRunApi(client)
    [run] = installation.wait_for(
        lambda: runs.get_dag_runs(ROLLUP, state=["success"], partition_key_pattern="all").dag_runs
    )
    assert (run.run_type, run.triggered_by) == (airflow.DagRunType.ASSET_TRIGGERED, "asset")
    upstream = runs.get_upstream_asset_events(ROLLUP, run.dag_run_id).asset_events
    assert {event.partition_key for event in upstream} == {"tw", "jp", "us"}
    written = AssetApi(client).get_asset_events(name_pattern="all_orders").asset_events
    assert [(event.partition_key, event.source_run_id) for event in written] == [
        ("all_regions", run.dag_run_id)
    ]


def test_a_run_is_triggered_noted_run_again_and_deleted(installation, client):
    runs = DagRunApi(client)
    made = runs.trigger_dag_run("lab_plain", airflow.TriggerDAGRunPostBody(conf={"a": 1}))

    def ended():
        return runs.get_dag_run("lab_plain", made.dag_run_id).state == airflow.DagRunState.SUCCESS

    installation.wait_for(ended)
    noted = runs.patch_dag_run("lab_plain", made.dag_run_id, airflow.DAGRunPatchBody(note="seen"))
    assert (noted.note, noted.conf) == ("seen", {"a": 1})
    runs.clear_dag_run("lab_plain", made.dag_run_id, airflow.DAGRunClearBody(dry_run=False))
    installation.wait_for(ended)
    runs.delete_dag_run("lab_plain", made.dag_run_id)
    with pytest.raises(NotFoundException):
        runs.get_dag_run("lab_plain", made.dag_run_id)
    told = EventLogApi(client).get_event_logs(dag_id="lab_plain", event="delete_dag_run").event_logs
    assert [entry.owner for entry in told] == [LOGIN[0]]


def test_a_backfill_is_tried_dry_and_done(installation, client):
    api = BackfillApi(client)
    asked = airflow.BackfillPostBody(
        dag_id="lab_hourly_sales",
        from_date=datetime(2026, 2, 18, tzinfo=UTC),
        to_date=datetime(2026, 2, 18, 2, tzinfo=UTC),
        max_active_runs=2,
    )
    assert api.create_backfill_dry_run(asked).total_entries == 3
    pk = api.create_backfill(asked).id
    installation.wait_for(lambda: api.get_backfill(pk).completed_at)
    found = DagRunApi(client).get_dag_runs("lab_hourly_sales", run_type=["backfill"], order_by=["id"])
    assert [run.partition_key for run in found.dag_runs] == [f"2026-02-18T0{hour}:00:00" for hour in range(3)]
    with pytest.raises(ConflictException):
        api.cancel_backfill(pk)


def test_dags_are_paused_and_the_site_is_well(client):
    dags = DAGApi(client)
    assert dags.patch_dag("lab_plain", airflow.DAGPatchBody(is_paused=True)).is_paused
    assert not dags.patch_dag("lab_plain", airflow.DAGPatchBody(is_paused=False)).is_paused
    assert MonitorApi(client).get_health().scheduler.status == "healthy"
    assert VersionApi(client).get_version().version
    stranger = airflow.ApiClient(airflow.Configuration(host=client.configuration.host))
    with pytest.raises(UnauthorizedException):
        DAGApi(stranger).get_dags()
