"""Assets and what is known of their partitions."""

import pytest

from core.models import HeldRun, JournalEntry, ReceivedKey

URL = "/api/v2/assets"


def names(answer):
    return [asset["name"] for asset in answer.json()["assets"]]


class TestList:
    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("name_pattern=REGIONAL", ["regional_orders"]),
            ("uri_pattern=lab/hourly|lab/daily", ["hourly_sales", "daily_sales_summary"]),
            ("uri_prefix_pattern=s3://lab/plain", ["plain_asset"]),
            ("dag_ids=lab_region_rollup", ["regional_orders", "all_orders"]),
            (
                "dag_ids=lab_plain,lab_region_rollup&order_by=name",
                ["all_orders", "plain_asset", "regional_orders"],
            ),
            ("dag_ids=lab_plain&dag_ids=lab_region_rollup&limit=1&order_by=-name", ["regional_orders"]),
            ("dag_ids=nope", []),
        ],
    )
    def test_is_narrowed_and_ordered(self, api, lab, query, found):
        assert names(api.get(f"{URL}?{query}")) == found

    def test_leaves_out_assets_that_are_not_defined_any_more(self, api, lab):
        asset = lab["all_orders"]
        asset.is_active = False
        asset.save()
        assert "all_orders" not in names(api.get(URL))
        assert "all_orders" in names(api.get(f"{URL}?only_active=false"))
        assert api.get(f"{URL}/{asset.pk}").status_code == 200

    def test_needs_the_same_queries_for_many_as_for_one(self, api, lab, django_assert_num_queries):
        with django_assert_num_queries(6):
            api.get(f"{URL}?limit=1")
        with django_assert_num_queries(4):
            api.get(f"{URL}?limit=100")


class TestOne:
    def test_says_who_listens_writes_and_reads(self, api, lab):
        found = api.get(f"{URL}/{lab['hourly_sales'].pk}").json()
        assert [dag["dag_id"] for dag in found["scheduled_dags"]] == [
            "lab_daily_sales",
            "lab_daily_sales_tolerant",
        ]
        assert [(task["dag_id"], task["task_id"]) for task in found["producing_tasks"]] == [
            ("lab_hourly_sales", "produce")
        ]
        assert [(task["dag_id"], task["task_id"]) for task in found["consuming_tasks"]] == [
            ("lab_daily_sales", "summarise")
        ]

    def test_names_its_last_event(self, api, lab):
        pk = lab["plain_asset"].pk
        events = [api.post(f"{URL}/events", {"asset_id": pk}).json() for _ in "ab"]
        assert api.get(f"{URL}/{pk}").json()["last_asset_event"] == {
            "id": events[1]["id"],
            "timestamp": events[1]["timestamp"],
        }

    @pytest.mark.parametrize(
        ("asset_id", "status"), [("999999", 404), (str(2**70), 422), ("x", 422), ("1.5", 422)]
    )
    def test_another_is_not_found(self, api, lab, asset_id, status):
        answer = api.get(f"{URL}/{asset_id}")
        assert answer.status_code == status
        if status == 422:
            assert answer.json()["detail"][0]["loc"] == ["path", "asset_id"]


class TestPartitions:
    @pytest.fixture
    def url(self, api, lab):
        pk = lab["hourly_sales"].pk
        for hour in (9, 10, 11):
            body = {
                "asset_id": pk,
                "partition_key": f"2026-03-10T{hour:02}:00:00",
                "extra": {"rows": hour, "token": "x"},
            }
            api.post(f"{URL}/events", body)
        return f"{URL}/{pk}/partitions"

    def test_has_the_state_of_each(self, api, url):
        found = api.get(url).json()
        assert found["total_entries"] == 3
        assert found["partitions"][0] == found["partitions"][0] | {
            "partition_key": "2026-03-10T09:00:00",
            "partition_date": "2026-03-10T09:00:00Z",
            "state": "materialized",
            "is_stale": False,
            "extra": {"rows": 9, "token": "***", "from_rest_api": True},
        }

    @pytest.mark.parametrize(
        ("query", "total"),
        [
            ("state=materialized", 3),
            ("state=failed&state=running", 0),
            ("partition_key=2026-03-10T09:00:00&partition_key=2026-03-10T10:00:00", 2),
            ("partition_key_prefix_pattern=2026-03-10T1", 2),
            ("partition_key_pattern=T09", 1),
            ("partition_date_gte=2026-03-10T10:00:00Z", 2),
            ("is_stale=true", 0),
        ],
    )
    def test_are_narrowed(self, api, url, query, total):
        assert api.get(f"{url}?{query}").json()["total_entries"] == total

    def test_may_be_counted(self, api, url):
        assert api.get(f"{url}?summary=true&partition_key_pattern=T1").json() == {
            "counts": {"materialized": 2, "failed": 0, "running": 0},
            "total_entries": 2,
        }

    def test_have_pages(self, api, url):
        first = api.get(f"{url}?cursor=&limit=2").json()
        second = api.get(f"{url}?cursor={first['next_cursor']}&limit=2").json()
        assert [row["partition_key"][-8:-6] for row in first["partitions"] + second["partitions"]] == [
            "09",
            "10",
            "11",
        ]
        assert second["next_cursor"] is None

    def test_of_no_asset_are_not_found(self, api, lab):
        assert api.get(f"{URL}/999999/partitions").status_code == 404

    def test_refuse_a_state_there_is_not(self, api, url):
        assert api.get(f"{url}?state=green").status_code == 422


class TestMaterialize:
    def test_runs_the_dag_that_writes_it(self, api, lab):
        answer = api.post(
            f"{URL}/{lab['hourly_sales'].pk}/materialize", {"partition_key": "2026-03-10T11:00:00"}
        )
        run = answer.json()
        assert (answer.status_code, run["dag_id"], run["run_type"]) == (
            200,
            "lab_hourly_sales",
            "asset_materialization",
        )
        found = api.get("/api/v2/dags/~/dagRuns?run_type=asset_materialization").json()["dag_runs"]
        assert [each["dag_run_id"] for each in found] == [run["dag_run_id"]]
        assert api.get("/api/v2/dags/~/dagRuns?run_type=manual").json()["total_entries"] == 0

    def test_needs_one_that_does(self, api, lab):
        answer = api.post(f"{URL}/{lab['sales_data'].pk}/materialize", {})
        assert answer.json() == {"detail": f"No Dag materializes asset with ID: {lab['sales_data'].pk}"}

    def test_needs_only_one_that_does(self, api, lab):
        from core.models import Dag, Outlet

        other = Dag.objects.get(dag_id="lab_plain")
        Outlet.objects.create(dag=other, asset=lab["hourly_sales"], task_id="plain")
        answer = api.post(f"{URL}/{lab['hourly_sales'].pk}/materialize", {})
        assert answer.status_code == 409

    def test_refuses_no_key_where_every_run_has_one(self, api, lab):
        answer = api.post(f"{URL}/{lab['hourly_sales'].pk}/materialize", {})
        sentence = "say for which partition key: every run of Dag lab_hourly_sales has one"
        assert (answer.status_code, answer.json()) == (400, {"detail": sentence})

    def test_refuses_a_key_that_its_dag_cannot_read(self, api, lab):
        answer = api.post(f"{URL}/{lab['hourly_sales'].pk}/materialize", {"partition_key": "nine"})
        assert answer.status_code == 400


class TestQueuedEvents:
    """Events that a Dag without partitions has counted for its next run."""

    @pytest.fixture
    def queued(self, api, lab, settle):
        api.post(f"{URL}/events", {"asset_id": lab["plain_asset"].pk})
        settle()
        return lab["plain_asset"].pk

    @pytest.mark.parametrize(
        "url",
        [
            "/api/v2/assets/{pk}/queuedEvents",
            "/api/v2/dags/lab_plain_consumer/assets/queuedEvents",
        ],
    )
    def test_are_listed_from_two_sides(self, api, queued, url):
        found = api.get(url.format(pk=queued)).json()
        assert found["total_entries"] == 1
        assert (found["queued_events"][0]["dag_id"], found["queued_events"][0]["asset_id"]) == (
            "lab_plain_consumer",
            queued,
        )

    def test_is_one_for_a_dag_and_an_asset(self, api, lab, queued):
        url = "/api/v2/dags/lab_plain_consumer/assets/{}/queuedEvents"
        assert api.get(url.format(queued)).json()["asset_id"] == queued
        assert api.get(url.format(queued) + "?before=2100-01-01").json()["asset_id"] == queued
        assert api.get(url.format(queued) + "?before=2020-01-01").status_code == 404
        assert api.get(url.format(lab["sales_data"].pk)).status_code == 404

    def test_are_forgotten_together(self, api, queued):
        url = "/api/v2/dags/lab_plain_consumer/assets/queuedEvents"
        assert api.delete(url).status_code == 204
        assert api.get(url).json()["total_entries"] == 0
        assert api.delete(url).status_code == 404

    def test_are_forgotten_up_to_an_instant(self, api, lab, queued, settle):
        url, noon = "/api/v2/dags/lab_plain_consumer/assets/queuedEvents", "2026-03-10T12:00:00Z"
        api.patch("/api/v2/dags/lab_plain_consumer", {"is_paused": True})  # or it would run with both
        ReceivedKey.objects.update(received_at="2026-03-10T11:00:00Z")
        assert api.delete(f"{url}?before=2026-03-10T11:00:00Z").status_code == 404
        assert api.delete(f"{url}?before=noon").status_code == 422
        api.post(f"{URL}/events", {"asset_id": lab["sales_data"].pk})
        settle()
        run_before = HeldRun.objects.held().get(dag__dag_id="lab_plain_consumer")
        assert api.delete(f"{url}?before={noon}").status_code == 204
        assert [each["asset_id"] for each in api.get(url).json()["queued_events"]] == [lab["sales_data"].pk]
        assert [each.event.asset.name for each in run_before.consumed.all()] == ["sales_data"]
        assert JournalEntry.objects.latest("pk").event == "received keys forgotten"

    def test_that_all_came_before_an_instant_leave_nothing_open(self, api, queued):
        url = "/api/v2/dags/lab_plain_consumer/assets/queuedEvents"
        assert api.delete(f"{url}?before=2100-01-01").status_code == 204
        assert not HeldRun.objects.held().exists()

    def test_are_not_forgotten_apart(self, api, queued):
        answer = api.delete(f"/api/v2/assets/{queued}/queuedEvents")
        assert answer.status_code == 409
        assert "lab_plain_consumer/assets/queuedEvents" in answer.json()["detail"]

    def test_that_are_not_there_are_not_found(self, api, lab):
        pk = lab["plain_asset"].pk
        for url in (
            f"/api/v2/assets/{pk}/queuedEvents",
            f"/api/v2/dags/lab_plain_consumer/assets/{pk}/queuedEvents",
        ):
            assert api.delete(url).status_code == 404
