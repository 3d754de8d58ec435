"""Runs by the API: triggered, listed, changed."""

import pytest
from django.utils import timezone

from core.models import Dag, DagRun, HeldRun, JournalEntry
from partitions_site import roles
from scheduling import claims, runs
from scheduling.journal import Deed

ALL = "/api/v2/dags/~/dagRuns"
HOURLY = "/api/v2/dags/lab_hourly_sales/dagRuns"
REGION = "/api/v2/dags/lab_region_rollup/dagRuns"
PLAIN = "/api/v2/dags/lab_plain/dagRuns"


def keys(answer):
    return [run["partition_key"] for run in answer.json()["dag_runs"]]


def address(run):
    return f"/api/v2/dags/{run['dag_id']}/dagRuns/{run['dag_run_id'].replace('+', '%2B')}"


class TestTrigger:
    def test_takes_just_a_key(self, api, lab):
        """As the talk's slide has it; Airflow itself insists on `logical_date`."""
        answer = api.post(HOURLY, {"partition_key": "2026-03-10T09:00:00"})
        assert answer.status_code == 200
        run = answer.json()
        assert (run["state"], run["run_type"], run["triggered_by"]) == ("queued", "manual", "rest_api")
        assert (run["partition_key"], run["partition_date"]) == (
            "2026-03-10T09:00:00",
            "2026-03-10T09:00:00Z",
        )

    def test_takes_all_that_airflow_takes(self, api, lab):
        body = {
            "dag_run_id": "manual__mine",
            "logical_date": None,
            "data_interval_start": None,
            "data_interval_end": None,
            "run_after": "2030-01-01T00:00:00Z",
            "conf": {"a": 1, "password": "x"},
            "note": "by hand",
            "partition_key": "all_regions",
        }
        run = api.post(REGION, body).json()
        assert run["dag_run_id"] == "manual__mine"
        assert run["run_after"] == "2030-01-01T00:00:00Z"
        assert run["conf"] == {"a": 1, "password": "***"}
        assert run["note"] == "by hand"
        assert run["triggering_user_name"] == "operator"

    @pytest.mark.parametrize(
        ("url", "body", "status"),
        [
            (HOURLY, {"partition_key": "nine"}, 400),
            (HOURLY, {"partition_key": " "}, 400),
            (HOURLY, {"partition_key": ""}, 400),
            (HOURLY, {"partition_key": "x" * 251}, 400),
            (PLAIN, {"partition_key": "x"}, 400),
            (PLAIN, {"dag_run_id": "a/b"}, 400),
            (PLAIN, {"dag_run_id": ""}, 400),
            ("/api/v2/dags/nope/dagRuns", {}, 404),
            ("/api/v2/dags/~/dagRuns", {}, 404),
            (PLAIN, {"data_interval_start": "2026-01-01"}, 422),
            (PLAIN, {"logical_date": "soon"}, 422),
            (PLAIN, {"conf": [1]}, 422),
            (PLAIN, {"note": "x" * 1001}, 422),
            (PLAIN, {"unknown": 1}, 422),
            (PLAIN, [], 422),
        ],
    )
    def test_refuses_what_does_not_fit(self, api, lab, url, body, status):
        answer = api.post(url, body)
        assert answer.status_code == status, answer.json()
        assert not DagRun.objects.exists()

    def test_names_the_right_form_of_a_key(self, api, lab):
        assert "%Y-%m-%dT%H:%M:%S" in api.post(HOURLY, {"partition_key": "nine"}).json()["detail"]

    def test_refuses_an_id_that_is_taken(self, api, lab):
        api.post(PLAIN, {"dag_run_id": "x"})
        answer = api.post(PLAIN, {"dag_run_id": "x"})
        assert answer.status_code == 409
        assert answer.json()["detail"]["reason"] == "Unique constraint violation"

    def test_settles_a_held_run_of_its_key_unless_told_not_to(self, api, lab, settle):
        api.post("/api/v2/assets/events", {"asset_id": lab["regional_orders"].pk, "partition_key": "tw"})
        settle()
        api.post(REGION, {"partition_key": "all_regions", "settle_held": False})
        assert HeldRun.objects.get().state == "held"
        run = api.post(REGION, {"partition_key": "all_regions"}).json()
        assert HeldRun.objects.get().run.run_id == run["dag_run_id"]

    def test_is_not_for_viewers(self, api_of, lab):
        assert api_of(roles.VIEWER).post(PLAIN, {}).status_code == 403

    def test_of_a_dag_that_is_not_defined_any_more_is_refused(self, api, lab):
        Dag.objects.filter(dag_id="lab_plain").update(is_active=False)
        assert api.post(PLAIN, {}).status_code == 409


class TestList:
    @pytest.fixture
    def some(self, api, lab, ended):
        ended(api.post(HOURLY, {"partition_key": "2026-03-10T09:00:00", "conf": {"rows": 7}}).json())
        ended(api.post(HOURLY, {"partition_key": "2026-03-11T09:00:00"}).json(), error="boom")
        api.post(REGION, {"partition_key": "all_regions"})
        return api

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", ["2026-03-10T09:00:00", "2026-03-11T09:00:00", "all_regions"]),
            ("order_by=-id&limit=1", ["all_regions"]),
            ("state=success", ["2026-03-10T09:00:00"]),
            ("state=failed&state=queued", ["2026-03-11T09:00:00", "all_regions"]),
            ("state=skipped", []),
            ("run_type=manual&limit=1", ["2026-03-10T09:00:00"]),
            ("run_type=scheduled", []),
            ("run_id_pattern=manual&offset=2", ["all_regions"]),
            ("run_id_prefix_pattern=asset", []),
            ("dag_id_pattern=region", ["all_regions"]),
            ("triggering_user_name_pattern=oper&offset=2", ["all_regions"]),
            ("triggering_user_name_pattern=nobody", []),
            ("partition_key_pattern=-11T", ["2026-03-11T09:00:00"]),
            ("partition_key_prefix_pattern=2026-03-1", ["2026-03-10T09:00:00", "2026-03-11T09:00:00"]),
            ("partition_key_pattern=all_regions|2026", []),
            ("conf_contains=rows", ["2026-03-10T09:00:00"]),
            ("duration_gte=59.5&duration_lt=60.5", ["2026-03-10T09:00:00", "2026-03-11T09:00:00"]),
            ("duration_gt=61", []),
            ("duration_gt=4.6e305", []),
            ("duration_lt=-4.6e305", []),
            ("run_after_lt=2020-01-01", []),
            ("logical_date_gte=2020-01-01", []),
            ("end_date_gte=2020-01-01&order_by=-end_date", ["2026-03-11T09:00:00", "2026-03-10T09:00:00"]),
            ("order_by=duration&order_by=-partition_date&limit=1", ["2026-03-10T09:00:00"]),
            ("order_by=conf&limit=3&state=queued", ["all_regions"]),
            ("consuming_asset_pattern=x", []),
        ],
    )
    def test_is_narrowed_and_ordered(self, some, query, found):
        answer = some.get(f"{ALL}?{query}")
        assert answer.status_code == 200, answer.json()
        if "order_by=duration" in query:
            assert set(keys(answer)) <= {"2026-03-10T09:00:00", "2026-03-11T09:00:00"}
        else:
            assert keys(answer) == found

    @pytest.mark.parametrize(
        "query",
        [
            "state=sleeping",
            "run_type=x",
            "duration_gt=long",
            "duration_gt=nan",
            "duration_lt=-inf",
            "limit=-1",
        ],
    )
    def test_refuses_what_does_not_fit(self, some, query):
        assert some.get(f"{ALL}?{query}").status_code == 422

    @pytest.mark.parametrize("query", ["order_by=partition_key", "cursor=x", "cursor=&order_by=conf&limit=1"])
    def test_refuses_orders_it_does_not_have(self, some, query):
        answer = some.get(f"{ALL}?{query}")
        if query.endswith("limit=1"):
            answer = some.get(f"{ALL}?order_by=conf&limit=1&cursor={answer.json()['next_cursor']}")
        assert answer.status_code == 400

    def test_of_one_dag(self, some):
        assert keys(some.get(REGION)) == ["all_regions"]
        assert some.get("/api/v2/dags/nope/dagRuns").status_code == 404

    def test_by_the_runs_that_consumed_an_asset(self, api, lab, settle):
        for key in ("tw", "jp", "us"):
            api.post("/api/v2/assets/events", {"asset_id": lab["regional_orders"].pk, "partition_key": key})
        settle()
        api.post(PLAIN, {})
        assert keys(api.get(f"{ALL}?consuming_asset_pattern=REGIONAL")) == ["all_regions"]

    def test_a_cancelled_run_failed_to_airflow(self, some):
        run = DagRun.objects.get(state="queued")
        runs.cancel(run, deed=Deed(), at=timezone.now())
        [found] = some.get(f"{ALL}?state=cancelled").json()["dag_runs"]
        assert (found["state"], found["detailed_state"]) == ("failed", "cancelled")
        assert some.get(f"{ALL}?state=failed").json()["total_entries"] == 2

    def test_has_cursors_in_every_order(self, some):
        for order in ("duration", "-duration", "start_date", "-end_date", "dag_id", "logical_date", "state"):
            found, token = [], ""
            while token is not None:
                page = some.get(f"{ALL}?limit=1&order_by={order}&cursor={token}").json()
                found += [run["dag_run_id"] for run in page["dag_runs"]]
                token = page["next_cursor"]
            whole = some.get(f"{ALL}?order_by={order}").json()["dag_runs"]
            assert found == [run["dag_run_id"] for run in whole], order

    def test_needs_the_same_queries_for_many_as_for_one(self, some, django_assert_num_queries):
        with django_assert_num_queries(2):
            some.get(f"{ALL}?limit=1")
        with django_assert_num_queries(1):
            some.get(f"{ALL}?limit=100")

    def test_a_failed_run_says_why(self, some):
        [found] = some.get(f"{ALL}?state=failed").json()["dag_runs"]
        assert "boom" in found["error"]


class TestDays:
    """Partition dates are asked for by calendar day, in the zone of the Dag."""

    @pytest.fixture
    def taipei(self, api, lab):
        spec = {
            "type": "CronPartitionTimetable",
            "cron": "0 * * * *",
            "timezone": "Asia/Taipei",
            "key_format": "%Y-%m-%dT%H:%M:%S",
        }
        Dag.objects.filter(dag_id="lab_hourly_sales").update(schedule=spec, revision=2)
        for key in (
            "2026-03-09T23:00:00",
            "2026-03-10T00:00:00",
            "2026-03-10T23:00:00",
            "2026-03-11T00:00:00",
        ):
            assert api.post(HOURLY, {"partition_key": key}).status_code == 200
        return api

    @pytest.mark.parametrize(
        ("query", "count"),
        [
            ("partition_date_gte=2026-03-10&partition_date_lte=2026-03-10", 2),
            ("partition_date_gte=2026-03-10", 3),
            ("partition_date_lte=2026-03-10", 3),
            ("partition_date_lte=2026-03-10T23:59:59Z", 3),
        ],
    )
    def test_both_ends_are_included(self, taipei, query, count):
        assert taipei.get(f"{HOURLY}?{query}").json()["total_entries"] == count

    @pytest.mark.parametrize("day", ["x", "9999-12-31", "0001-01-01", "2026-02-30"])
    def test_refuse_what_is_no_day(self, api, lab, day):
        assert api.get(f"{HOURLY}?partition_date_gte={day}").status_code == 422

    def test_need_one_partitioned_dag(self, api, lab):
        assert api.get(f"{ALL}?partition_date_gte=2026-03-10").status_code == 400
        assert api.get(f"{PLAIN}?partition_date_gte=2026-03-10").status_code == 400


class TestPatch:
    def test_marks_and_notes(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        answer = api.patch(address(run), {"state": "failed", "note": "wrong numbers"})
        assert (answer.json()["state"], answer.json()["note"]) == ("failed", "wrong numbers")
        assert JournalEntry.objects.get(event="run marked").by == "operator"

    def test_changes_only_what_the_mask_names(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        answer = api.patch(f"{address(run)}?update_mask=note", {"state": "failed", "note": "x"})
        assert (answer.json()["state"], answer.json()["note"]) == ("success", "x")
        assert api.patch(f"{address(run)}?update_mask=conf", {"note": "x"}).status_code == 400

    def test_queued_runs_it_again(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        answer = api.patch(address(run), {"state": "queued"}).json()
        assert (answer["state"], answer["start_date"]) == ("queued", None)
        assert api.patch(address(run), {"state": "queued"}).status_code == 409

    @pytest.mark.parametrize("body", [{"state": "running"}, {"note": "x" * 1001}, {"conf": {}}])
    def test_refuses_what_does_not_fit(self, api, lab, body):
        run = api.post(PLAIN, {}).json()
        assert api.patch(address(run), body).status_code == 422

    def test_of_no_run_is_not_found(self, api, lab):
        assert api.patch(f"{PLAIN}/nope", {"note": "x"}).status_code == 404


class TestDelete:
    def test_takes_it_off_the_record(self, api_of, lab):
        editor = api_of(roles.EDITOR)
        run = editor.post(PLAIN, {}).json()
        assert editor.delete(address(run)).status_code == 204
        assert editor.get(address(run)).status_code == 404

    def test_not_while_it_runs(self, api_of, lab):
        editor = api_of(roles.EDITOR)
        run = editor.post(PLAIN, {}).json()
        claims.claim(DagRun.objects.get().pk, worker="w", now=timezone.now())
        assert editor.delete(address(run)).status_code == 409

    def test_is_not_for_operators(self, api, lab):
        run = api.post(PLAIN, {}).json()
        assert api.delete(address(run)).status_code == 403


class TestListByBody:
    URL = "/api/v2/dags/~/dagRuns/list"

    @pytest.mark.parametrize(
        ("body", "found"),
        [
            ({}, ["all_regions", None]),
            ({"dag_ids": ["lab_plain"]}, [None]),
            ({"states": ["success"]}, []),
            ({"states": ["queued", None], "order_by": "-id", "page_limit": 1}, [None]),
            ({"page_offset": 1}, [None]),
            ({"run_after_gte": "2030-01-01T00:00:00Z"}, []),
            ({"conf_contains": "zzz"}, []),
        ],
    )
    def test_is_the_list(self, api, lab, body, found):
        api.post(REGION, {"partition_key": "all_regions"})
        api.post(PLAIN, {})
        assert keys(api.post(self.URL, body)) == found

    def test_is_for_viewers_too(self, api_of, lab):
        assert api_of(roles.VIEWER).post(self.URL, {}).status_code == 200

    @pytest.mark.parametrize(
        ("body", "status"), [({"order_by": "x"}, 400), ({"states": ["x"]}, 422), ({"page_limit": -1}, 422)]
    )
    def test_refuses_what_does_not_fit(self, api, lab, body, status):
        assert api.post(self.URL, body).status_code == status


class TestUpstreamEvents:
    def test_are_those_the_run_consumed(self, api, lab, settle):
        for key in ("tw", "jp", "us", "eu"):
            api.post("/api/v2/assets/events", {"asset_id": lab["regional_orders"].pk, "partition_key": key})
        settle()
        [run] = api.get(REGION).json()["dag_runs"]
        found = api.get(f"{address(run)}/upstreamAssetEvents").json()
        assert [event["partition_key"] for event in found["asset_events"]][:3] == ["tw", "jp", "us"]
        triggers = [event["created_dagruns"][0]["triggering"] for event in found["asset_events"]]
        assert sum(triggers) == 1


class TestVersions:
    def test_of_a_changed_definition_is_another(self, api, lab):
        """The written version is kept per process, by the revision of the Dag."""
        api.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "v"})
        url = "/api/v2/dags/lab_plain/dagRuns/v"
        [before] = api.get(url).json()["dag_versions"]
        Dag.objects.filter(dag_id="lab_plain").update(revision=7)
        [after] = api.get(url).json()["dag_versions"]
        assert after["version_number"] == 7
        assert before["id"] != after["id"]
