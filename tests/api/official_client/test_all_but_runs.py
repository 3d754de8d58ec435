"""All but runs, by the official Python client of Airflow."""

from datetime import UTC, datetime

import pytest
from airflow_client import client as airflow
from airflow_client.client.api import (
    AssetApi,
    BackfillApi,
    DAGApi,
    DagRunApi,
    DagStatsApi,
    EventLogApi,
    ImportErrorApi,
    MonitorApi,
    PoolApi,
    TaskInstanceApi,
    VariableApi,
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

from core.models import Asset, DefinitionSource
from partitions_site import roles

pytestmark = pytest.mark.django_db(transaction=True)


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
        assert dags.patch_dags(paused, dag_id_pattern="lab", limit=1, offset=1).dags[0].is_paused

    def test_are_counted(self, client):
        [stats] = DagStatsApi(client).get_dag_stats(["lab_plain"]).dags
        assert [each.count for each in stats.stats] == [0, 0, 0, 0]


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


class TestWhatAirflowHasBesides:
    def test_tags_are_those_of_dags(self, client):
        dags = DAGApi(client)
        assert dags.get_dag_tags().tags == ["lab"]
        assert dags.get_dag_tags(tag_name_pattern="%LA%").total_entries == 1
        assert dags.get_dag_tags(tag_name_pattern="none").tags == []
        assert dags.get_dag_tags(tag_name_prefix_pattern="la").tags == ["lab"]
        assert dags.get_dag_tags(tag_name_prefix_pattern="ab").tags == []

    def test_import_errors_are_files_that_do_not_load(self, client):
        assert ImportErrorApi(client).get_import_errors().import_errors == []
        DefinitionSource.objects.create(
            name="broken.py", error="no such name", traceback="Traceback …", loaded_at=datetime.now(UTC)
        )
        [error] = ImportErrorApi(client).get_import_errors(order_by=["-timestamp"]).import_errors
        assert (error.filename, error.stack_trace) == ("broken.py", "Traceback …")

    def test_task_instances_and_variables_are_none(self, client):
        assert TaskInstanceApi(client).get_task_instances("~", "~").task_instances == []
        assert VariableApi(client).get_variables().variables == []
