"""Dags by the API: listed, looked at, paused."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from core.models import Dag, DagRun, DefinitionSource, JournalEntry
from partitions_site import roles
from scheduling import runs, ticks
from scheduling.journal import Deed
from tests.engine import world

URL = "/api/v2/dags"
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def ids(answer):
    return [dag["dag_id"] for dag in answer.json()["dags"]]


class TestList:
    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("dag_id_pattern=REGION", ["lab_ingest_regional_orders", "lab_region_rollup"]),
            ("dag_id_prefix_pattern=lab_p", ["lab_plain", "lab_plain_consumer"]),
            ("dag_display_name_pattern=lab_and", ["lab_and_of_three"]),
            ("tags=lab&limit=1", ["lab_and_of_three"]),
            ("tags=other", []),
            ("owners=airflow", []),
            ("paused=true", []),
            ("has_asset_schedule=false", ["lab_hourly_sales", "lab_ingest_regional_orders", "lab_plain"]),
            ("has_import_errors=true", []),
            ("is_favorite=true", []),
            ("order_by=-dag_id&limit=2", ["lab_region_rollup", "lab_plain_consumer"]),
            ("last_dag_run_state=queued", []),
            ("dag_run_state=queued", []),
            ("tags=lab&tags=other&tags_match_mode=all", []),
            ("tags=lab&tags=other&tags_match_mode=any&limit=1", ["lab_and_of_three"]),
            ("asset_dependency=regional", ["lab_region_rollup"]),
            ("asset_dependency=s3://lab/pricing", ["lab_and_of_three"]),
            ("timetable_type=airflow.timetables.assets.AssetTimetable", ["lab_plain_consumer"]),
            ("timetable_type=CronPartitionTimetable", ["lab_hourly_sales"]),
            ("bundle_name=other", []),
            ("bundle_version=1", []),
            ("bundle_name=dags-folder&limit=1", ["lab_and_of_three"]),
            ("order_by=state&order_by=-dag_id&limit=1", ["lab_region_rollup"]),
        ],
    )
    def test_is_narrowed_and_ordered(self, api, lab, query, found):
        assert ids(api.get(f"{URL}?{query}")) == found

    def test_leaves_out_what_is_not_defined_any_more(self, api, lab):
        Dag.objects.filter(dag_id="lab_plain").update(is_active=False)
        assert "lab_plain" not in ids(api.get(URL))
        found = api.get(f"{URL}?exclude_stale=false&dag_id_pattern=lab_plain").json()["dags"]
        assert [dag["is_stale"] for dag in found] == [True, False]

    def test_by_how_their_last_run_went(self, api, lab):
        dag = Dag.objects.get(dag_id="lab_plain")
        run = runs.trigger(dag, runs.Ask(), deed=Deed(), at=timezone.now())
        assert ids(api.get(f"{URL}?last_dag_run_state=queued")) == ["lab_plain"]
        assert ids(api.get(f"{URL}?dag_run_state=failed&dag_run_state=queued")) == ["lab_plain"]
        assert api.get(f"{URL}?dag_run_state=x").status_code == 422
        runs.cancel(run, deed=Deed(), at=timezone.now())
        assert ids(api.get(f"{URL}?last_dag_run_state=failed")) == ["lab_plain"]
        assert api.get(f"{URL}?last_dag_run_state=x").status_code == 422
        assert ids(api.get(f"{URL}?order_by=last_run_state&limit=1")) == ["lab_plain"]

    def test_by_when_their_runs_began_and_ended(self, api, lab):
        for name, key, hour in (("lab_plain", None, 9), ("lab_hourly_sales", "2026-03-10T09:00:00", 12)):
            run = runs.trigger(Dag.objects.get(dag_id=name), runs.Ask(key), deed=Deed(), at=NOON)
            DagRun.objects.filter(pk=run.pk).update(started_at=NOON.replace(hour=hour), ended_at=NOON)
        started, ended = f"{URL}?dag_run_start_date", f"{URL}?dag_run_end_date"
        assert ids(api.get(f"{started}_gte=2026-03-10T09:00:00Z")) == ["lab_hourly_sales", "lab_plain"]
        assert ids(api.get(f"{started}_gt=2026-03-10T09:00:00Z")) == ["lab_hourly_sales"]
        assert ids(api.get(f"{started}_lt=2026-03-10T10:00:00Z")) == ["lab_plain"]
        assert ids(api.get(f"{ended}_lte=2026-03-10T12:00:00Z&dag_run_start_date_lte=2026-03-10")) == []
        assert ids(api.get(f"{ended}_lt=2026-03-10T12:00:00Z")) == []
        assert api.get(f"{started}_gte=noon").status_code == 422

    def test_says_that_a_file_cannot_be_loaded(self, api, lab):
        DefinitionSource.objects.update(error="SyntaxError: line 3")
        assert all(dag["has_import_errors"] for dag in api.get(URL).json()["dags"])
        assert api.get(f"{URL}?has_import_errors=false").json()["total_entries"] == 0

    def test_needs_the_same_queries_for_many_as_for_one(self, api, lab, django_assert_num_queries):
        with django_assert_num_queries(3):
            api.get(f"{URL}?limit=1")
        with django_assert_num_queries(1):
            api.get(f"{URL}?limit=100")


class TestOne:
    @pytest.mark.parametrize("url", ["nope", "nope/details", "%00", "a%0Ab", "lab_plain%20"])
    def test_another_is_not_found(self, api, lab, url):
        assert api.get(f"{URL}/{url}").status_code == 404

    def test_says_what_it_waits_for(self, api, lab):
        found = api.get(f"{URL}/lab_and_of_three/details").json()
        assert [each["asset"]["name"] for each in found["asset_expression"]["all"]] == [
            "sales_data",
            "inventory_data",
            "pricing_data",
        ]

    def test_shows_a_definition_that_cannot_be_read(self, api, lab):
        Dag.objects.filter(dag_id="lab_region_rollup").update(schedule={"type": "Nonsense"}, revision=2)
        found = api.get(f"{URL}/lab_region_rollup/details").json()
        assert (found["timetable_summary"], found["asset_expression"]) == (None, None)
        assert found["timetable_description"] == "Its definition cannot be read"

    def test_tells_how_long_an_attempt_may_take(self, api, lab):
        assert api.get(f"{URL}/lab_plain/details").json()["dag_run_timeout"] is None
        Dag.objects.filter(dag_id="lab_plain").update(run_timeout=timedelta(hours=2))
        assert api.get(f"{URL}/lab_plain/details").json()["dag_run_timeout"] == "PT7200S"

    def test_has_a_version_for_each_revision(self, api, lab):
        first = api.get(f"{URL}/lab_plain/details").json()["latest_dag_version"]
        Dag.objects.filter(dag_id="lab_plain").update(revision=2)
        second = api.get(f"{URL}/lab_plain/details").json()["latest_dag_version"]
        assert (first["version_number"], second["version_number"]) == (1, 2)
        assert first["id"] != second["id"]


class TestPause:
    def test_is_kept_and_in_the_journal(self, api, lab):
        answer = api.patch(f"{URL}/lab_plain?update_mask=is_paused", {"is_paused": True})
        assert (answer.status_code, answer.json()["is_paused"]) == (200, True)
        entry = JournalEntry.objects.get(event="dag paused")
        assert (entry.by, entry.via, entry.dag_id) == ("operator", "api", "lab_plain")
        assert api.patch(f"{URL}/lab_plain", {"is_paused": False}).json()["is_paused"] is False

    @pytest.mark.parametrize("mask", ["description", "is_paused&update_mask=tags"])
    def test_changes_nothing_else(self, api, lab, mask):
        answer = api.patch(f"{URL}/lab_plain?update_mask={mask}", {"is_paused": True})
        assert answer.status_code == 400

    @pytest.mark.parametrize("body", [{}, {"is_paused": "perhaps"}, {"is_paused": True, "tags": []}])
    def test_refuses_what_does_not_fit(self, api, lab, body):
        assert api.patch(f"{URL}/lab_plain", body).status_code == 422

    def test_of_many_needs_a_pattern(self, api, lab):
        assert api.patch(URL, {"is_paused": True}).json() == {"dags": [], "total_entries": 0}
        assert not Dag.objects.filter(is_paused=True).exists()

    def test_of_many_touches_those_that_match(self, api, lab):
        answer = api.patch(f"{URL}?dag_id_pattern=plain&paused=false", {"is_paused": True})
        assert [(dag["dag_id"], dag["is_paused"]) for dag in answer.json()["dags"]] == [
            ("lab_plain", True),
            ("lab_plain_consumer", True),
        ]
        assert Dag.objects.filter(is_paused=True).count() == 2

    @pytest.mark.parametrize(
        ("page", "found"),
        [
            ("limit=2", ["lab_and_of_three", "lab_daily_sales"]),
            ("limit=1&offset=1", ["lab_daily_sales"]),
            ("offset=6", ["lab_plain_consumer", "lab_region_rollup"]),
            ("limit=0", []),
        ],
    )
    def test_of_many_touches_those_of_a_page_if_it_names_one(self, api, lab, page, found):
        answer = api.patch(f"{URL}?dag_id_pattern=lab&{page}", {"is_paused": True}).json()
        assert ([dag["dag_id"] for dag in answer["dags"]], answer["total_entries"]) == (found, 8)
        assert all(dag["is_paused"] for dag in answer["dags"])
        assert list(Dag.objects.filter(is_paused=True).values_list("dag_id", flat=True)) == found

    def test_is_not_for_viewers(self, api_of, lab):
        assert api_of(roles.VIEWER).patch(f"{URL}/lab_plain", {"is_paused": True}).status_code == 403


class TestStats:
    def test_counts_what_was_cancelled_as_failed(self, api, lab):
        dag = Dag.objects.get(dag_id="lab_plain")
        made = [runs.trigger(dag, runs.Ask(), deed=Deed(), at=timezone.now()) for _ in "ab"]
        runs.cancel(made[0], deed=Deed(), at=timezone.now())
        [found] = api.get("/api/v2/dagStats?dag_ids=lab_plain").json()["dags"]
        assert {each["state"]: each["count"] for each in found["stats"]} == {
            "queued": 1,
            "running": 0,
            "success": 0,
            "failed": 1,
        }

    def test_are_of_every_dag_unless_asked(self, api, lab):
        assert api.get("/api/v2/dagStats").json()["total_entries"] == 8


class TestMakingUp:
    @pytest.fixture
    def paused(self, db):
        hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
        since = timezone.now() - timedelta(hours=3)
        return world.dag("ingest", hourly, is_paused=True, ticked_until=since, start_date=since)

    @pytest.mark.parametrize("address", ["/api/v2/dags/ingest", "/api/v2/dags?dag_id_pattern=ingest"])
    @pytest.mark.parametrize(("more", "count"), [({"make_up_missed": True}, 3), ({}, 0)])
    def test_is_done_if_it_is_asked_for(self, api, paused, address, more, count):
        assert api.patch(address, {"is_paused": False, **more}).status_code == 200
        ticks.advance(now=timezone.now())
        assert paused.runs.count() == count
