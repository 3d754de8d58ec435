"""Runs by the API, listed."""

import pytest
from django.utils import timezone

from core.models import Dag, DagRun
from partitions_site import roles
from scheduling import runs
from scheduling.journal import Deed

ALL = "/api/v2/dags/~/dagRuns"
HOURLY = "/api/v2/dags/lab_hourly_sales/dagRuns"
REGION = "/api/v2/dags/lab_region_rollup/dagRuns"
PLAIN = "/api/v2/dags/lab_plain/dagRuns"


def keys(answer):
    return [run["partition_key"] for run in answer.json()["dag_runs"]]


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
        assert answer.status_code == 400
        assert set(answer.json()) == {"detail"}

    def test_tells_nothing_of_a_secret_by_what_it_is_found_by(self, api, lab):
        """Nor by where it stands: whoever may not see it could guess it letter by letter."""
        for key, conf in {"a": {"password": "hunter2"}, "b": {"rows": 1}, "c": {"password": "amber"}}.items():
            api.post(PLAIN, {"conf": conf, "dag_run_id": key})
        for text in ("hunter", "password", "a", "rows", "%"):
            found = [run["dag_run_id"] for run in api.get(ALL, {"conf_contains": text}).json()["dag_runs"]]
            assert found == {"rows": ["b"], "%": ["a", "b", "c"]}.get(text, []), text
        found = api.get(ALL, {"order_by": "-conf"}).json()["dag_runs"]
        assert [run["dag_run_id"] for run in found] == ["b", "c", "a"]
        listed = {"conf_contains": "hunter"}
        assert api.post("/api/v2/dags/~/dagRuns/list", listed).json()["dag_runs"] == []

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
