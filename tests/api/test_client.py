"""The official Python client of Airflow, unchanged, against this site over HTTP."""

from datetime import UTC, date, datetime

import pytest
from airflow_client import client as airflow
from airflow_client.client.api import (
    AssetApi,
    BackfillApi,
    DAGApi,
    DagRunApi,
    DagStatsApi,
    EventLogApi,
    MonitorApi,
    PoolApi,
    VersionApi,
)
from airflow_client.client.exceptions import (
    BadRequestException,
    ConflictException,
    ForbiddenException,
    NotFoundException,
    UnauthorizedException,
    UnprocessableEntityException,
)
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import Asset, DagRun
from partitions_site import roles
from scheduling import claims

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def connect(live_server, user_of):
    """Signs a role in as scripts do and gives the client's connection."""

    def connect(role=roles.EDITOR):
        user_of(role)
        answer = APIClient().post("/auth/token", {"username": role, "password": f"{role}-secret"})
        configuration = airflow.Configuration(
            host=live_server.url, access_token=answer.json()["access_token"]
        )
        return airflow.ApiClient(configuration)

    return connect


@pytest.fixture
def client(lab, connect):
    return connect()


@pytest.fixture
def report(client, settle):
    def report(name, *keys):
        assets = AssetApi(client)
        for key in keys:
            body = airflow.CreateAssetEventsBody(
                asset_id=Asset.objects.get(name=name).pk, partition_key=key, extra={"rows": 1}
            )
            assert assets.create_asset_event(body).partition_key == key
        settle()

    return report


def end(run_id):
    run = claims.claim(DagRun.objects.get(run_id=run_id).pk, worker="w", now=timezone.now())
    claims.succeed(run, [], at=timezone.now())


class TestAssets:
    def test_are_listed_and_found(self, client):
        assets = AssetApi(client)
        found = assets.get_assets(name_pattern="regional", order_by=["-name"])
        assert [asset.name for asset in found.assets] == ["regional_orders"]
        one = assets.get_asset(found.assets[0].id)
        assert (one.extra, one.producing_tasks[0].task_id) == ({"owner": "lab"}, "ingest")
        assert one.scheduled_dags[0].dag_id == "lab_region_rollup"
        assert assets.get_asset_aliases().asset_aliases == []

    def test_events_are_reported_and_read_back(self, client, report):
        report("regional_orders", "tw", "jp", "us")
        found = AssetApi(client).get_asset_events(name_pattern="regional", order_by=["-timestamp"])
        assert [event.partition_key for event in found.asset_events] == ["us", "jp", "tw"]
        assert found.asset_events[0].created_dagruns[0].triggering

    def test_are_materialized(self, client):
        pk = Asset.objects.get(name="hourly_sales").pk
        body = airflow.MaterializeAssetBody(partition_key="2026-03-10T11:00:00")
        run = AssetApi(client).materialize_asset(pk, body)
        assert run.run_type == airflow.DagRunType.ASSET_MATERIALIZATION

    def test_queued_events_are_listed_and_forgotten(self, client, settle):
        assets = AssetApi(client)
        pk = Asset.objects.get(name="plain_asset").pk
        assets.create_asset_event(airflow.CreateAssetEventsBody(asset_id=pk))
        settle()
        assert assets.get_asset_queued_events(pk).total_entries == 1
        assert assets.get_dag_asset_queued_event("lab_plain_consumer", pk).asset_id == pk
        assets.delete_dag_asset_queued_events("lab_plain_consumer")
        assert assets.get_dag_asset_queued_events("lab_plain_consumer").total_entries == 0


class TestDags:
    def test_are_listed_and_looked_at(self, client):
        dags = DAGApi(client)
        assert dags.get_dags(dag_id_pattern="lab_", limit=3).total_entries == 8
        assert dags.get_dag("lab_hourly_sales").timetable_summary == "0 * * * *"
        details = dags.get_dag_details("lab_and_of_three")
        assert len(details.asset_expression["all"]) == 3
        assert details.latest_dag_version.version_number == 1

    def test_are_paused_one_by_one_and_together(self, client):
        dags = DAGApi(client)
        paused = airflow.DAGPatchBody(is_paused=True)
        assert dags.patch_dag("lab_plain", paused, update_mask=["is_paused"]).is_paused
        assert dags.patch_dags(paused, dag_id_pattern="sales").total_entries == 3

    def test_are_counted(self, client):
        [stats] = DagStatsApi(client).get_dag_stats(["lab_plain"]).dags
        assert [each.count for each in stats.stats] == [0, 0, 0, 0]


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


class TestJournalAndHealth:
    def test_say_what_was_done(self, client, report):
        report("sales_data", "2024-01-15")
        [entry] = EventLogApi(client).get_event_logs(event="create_asset_event").event_logs
        assert (entry.owner, entry.event) == ("editor", "create_asset_event")
        assert EventLogApi(client).get_event_log(entry.event_log_id).when == entry.when

    def test_say_how_the_site_is(self, client):
        assert MonitorApi(client).get_health().metadatabase.status == "healthy"
        assert VersionApi(client).get_version().version


class TestRefusals:
    """The client has an exception for each; its body is where it looks for it."""

    def test_bad_request(self, client):
        body = airflow.TriggerDAGRunPostBody(partition_key="nine")
        with pytest.raises(BadRequestException, match="is not a key of the form"):
            DagRunApi(client).trigger_dag_run("lab_hourly_sales", body)

    def test_nobody_signed_in(self, live_server, lab):
        with (
            airflow.ApiClient(airflow.Configuration(host=live_server.url)) as stranger,
            pytest.raises(UnauthorizedException),
        ):
            AssetApi(stranger).get_assets()

    def test_no_rights(self, lab, connect):
        body = airflow.CreateAssetEventsBody(asset_id=1)
        with pytest.raises(ForbiddenException):
            AssetApi(connect(roles.VIEWER)).create_asset_event(body)

    def test_not_found(self, client):
        with pytest.raises(NotFoundException):
            DAGApi(client).get_dag("nope")

    def test_conflict(self, client):
        body = airflow.TriggerDAGRunPostBody(dag_run_id="x")
        DagRunApi(client).trigger_dag_run("lab_plain", body)
        with pytest.raises(ConflictException, match="Unique constraint violation"):
            DagRunApi(client).trigger_dag_run("lab_plain", body)

    def test_unprocessable(self, client):
        with pytest.raises(UnprocessableEntityException) as caught:
            DagRunApi(client).get_dag_runs("~", state=["x"])
        assert "Invalid value for state" in caught.value.body


class TestBackfills:
    @pytest.fixture
    def asked(self):
        return airflow.BackfillPostBody(
            dag_id="lab_hourly_sales",
            from_date=datetime(2026, 2, 18, tzinfo=UTC),
            to_date=datetime(2026, 2, 18, 2, tzinfo=UTC),
            reprocess_behavior=airflow.ReprocessBehavior.NONE,
            max_active_runs=1,
        )

    def test_are_tried_dry_and_started(self, client, asked):
        found = BackfillApi(client).create_backfill_dry_run(asked)
        assert found.total_entries == 3
        assert [row.partition_key for row in found.backfills] == [
            f"2026-02-18T0{hour}:00:00" for hour in (0, 1, 2)
        ]
        made = BackfillApi(client).create_backfill(asked)
        assert (made.dag_id, made.is_paused, made.completed_at) == ("lab_hourly_sales", False, None)
        assert made.from_date == datetime(2026, 2, 18, tzinfo=UTC)

    def test_one_at_a_time(self, client, asked):
        BackfillApi(client).create_backfill(asked)
        with pytest.raises(ConflictException, match="already a running backfill"):
            BackfillApi(client).create_backfill(asked)

    def test_of_a_consumer_are_refused(self, client, asked):
        asked.dag_id = "lab_daily_sales"
        with pytest.raises(UnprocessableEntityException, match="does not support backfills"):
            BackfillApi(client).create_backfill(asked)

    def test_are_listed_paused_and_cancelled(self, client, asked):
        api = BackfillApi(client)
        pk = api.create_backfill(asked).id
        assert [each.id for each in api.list_backfills("lab_hourly_sales").backfills] == [pk]
        assert api.pause_backfill(pk).is_paused
        assert not api.unpause_backfill(pk).is_paused
        assert api.cancel_backfill(pk).completed_at is not None
        with pytest.raises(ConflictException, match="already completed"):
            api.cancel_backfill(pk)
        assert api.get_backfill(pk).is_paused
        with pytest.raises(NotFoundException):
            api.get_backfill(4711)


class TestPools:
    def test_are_made_changed_and_deleted(self, client):
        api = PoolApi(client)
        made = api.post_pool(airflow.PoolBody(name="sftp", slots=2, description="logins"))
        assert (made.name, made.slots, made.open_slots) == ("sftp", 2, 2)
        assert api.patch_pool("sftp", airflow.PoolPatchBody(slots=4)).description == "logins"
        assert [(each.name, each.slots) for each in api.get_pools().pools] == [("sftp", 4)]
        with pytest.raises(ConflictException):
            api.post_pool(airflow.PoolBody(name="sftp", slots=2))
        api.delete_pool("sftp")
        with pytest.raises(NotFoundException):
            api.get_pool("sftp")
