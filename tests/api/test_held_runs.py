"""Held runs: what waits, for what, and what a person does about it."""

from datetime import UTC, datetime

import pytest

from core.models import Asset, DagRun, HeldRun, JournalEntry, Outlet
from partitions_site import roles
from tests.engine import world
from tests.engine.world import NOW

URL = "/api/v2/heldRuns"


@pytest.fixture
def held(emit):
    """The day 2026-03-10 waits for three hours, all regions for two, and three assets for each other."""
    emit("hourly_sales", *(f"2026-03-10T{hour:02}:00:00" for hour in range(24) if hour not in (9, 11, 22)))
    emit("regional_orders", "tw", "eu")
    emit("sales_data", "2024-01-15")
    return {row.dag.dag_id: row for row in HeldRun.objects.select_related("dag")}


def rows(answer):
    return [(row["dag_id"], row["partition_key"]) for row in answer.json()["held_runs"]]


class TestList:
    def test_says_in_words_what_is_missing(self, api, held):
        found = {row["dag_id"]: row for row in api.get(URL).json()["held_runs"]}
        day = found["lab_daily_sales"]
        assert day["sentence"] == "waiting on 3 of 24: hours 09, 11, 22"
        assert (day["required_count"], day["received_count"], day["missing_count"]) == (24, 21, 3)
        assert (day["verdict"], day["round"], day["state"], day["assets"]) == ("waiting", 1, "held", None)

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("dag_id=lab_region_rollup", [("lab_region_rollup", "all_regions")]),
            ("dag_id_pattern=AND_OF", [("lab_and_of_three", "2024-01-15")]),
            ("partition_key=2024-01-15", [("lab_and_of_three", "2024-01-15")]),
            (
                "partition_key_prefix_pattern=2026",
                [("lab_daily_sales", "2026-03-10"), ("lab_daily_sales_tolerant", "2026-03-10")],
            ),
            ("asset_name=pricing_data", [("lab_and_of_three", "2024-01-15")]),
            ("verdict=unreachable", []),
            ("state=fired", []),
            ("order_by=-received_count&limit=1&dag_id=lab_daily_sales", [("lab_daily_sales", "2026-03-10")]),
            ("partition_date_gte=2026-01-01&dag_id=lab_daily_sales", [("lab_daily_sales", "2026-03-10")]),
            ("opened_at_lt=2020-01-01", []),
        ],
    )
    def test_is_narrowed_and_ordered(self, api, held, query, found):
        assert sorted(rows(api.get(f"{URL}?{query}"))) == found

    def test_may_have_the_keys_of_every_row(self, api, held):
        found = {row["dag_id"]: row for row in api.get(f"{URL}?keys=true").json()["held_runs"]}
        assert found["lab_region_rollup"]["assets"][0]["missing_keys"] == ["jp", "us"]

    @pytest.mark.parametrize("keys", ["false", "true"])
    def test_needs_the_same_queries_for_many_as_for_one(self, api, emit, django_assert_max_num_queries, keys):
        emit("hourly_sales", *(f"2026-03-{day:02}T00:00:00" for day in range(1, 29)))
        with django_assert_max_num_queries(10):
            assert len(api.get(f"{URL}?keys={keys}&limit=100").json()["held_runs"]) == 56

    def test_refuses_a_state_there_is_not(self, api, held):
        assert api.get(f"{URL}?state=green").status_code == 422


class TestOne:
    def test_says_for_each_asset_what_came_and_what_did_not(self, api, held):
        found = api.get(f"{URL}/{held['lab_region_rollup'].pk}").json()
        [asset] = found["assets"]
        assert asset["required_keys"] == ["jp", "tw", "us"]
        assert (asset["received_keys"], asset["missing_keys"]) == (["tw"], ["jp", "us"])
        assert asset["asset_name"] == "regional_orders"
        assert found["dag_run_id"] is None

    def test_says_which_of_several_assets_are_missing(self, api, held):
        found = api.get(f"{URL}/{held['lab_and_of_three'].pk}").json()
        assert {each["asset_name"]: each["is_satisfied"] for each in found["assets"]} == {
            "sales_data": True,
            "inventory_data": False,
            "pricing_data": False,
        }

    def test_names_the_run_it_became(self, api, held, emit):
        emit("regional_orders", "jp", "us")
        found = api.get(f"{URL}/{held['lab_region_rollup'].pk}").json()
        assert (found["state"], found["verdict"]) == ("fired", None)
        assert found["dag_run_id"] == DagRun.objects.get().run_id

    @pytest.mark.parametrize(("held_run_id", "status"), [("999999", 404), ("x", 422)])
    def test_another_is_not_found(self, api, lab, held_run_id, status):
        assert api.get(f"{URL}/{held_run_id}").status_code == status


class TestFire:
    def test_makes_a_run_that_remembers_what_was_missing(self, api, held):
        answer = api.post(
            f"{URL}/{held['lab_region_rollup'].pk}/fire", {"reason": "the others are closed today"}
        )
        assert answer.status_code == 200
        assert answer.json()["partition_key"] == "all_regions"
        run = DagRun.objects.get()
        assert run.missing_keys == [{"asset": "regional_orders", "keys": ["jp", "us"]}]
        entry = JournalEntry.objects.get(event="held run fired by hand")
        assert (entry.by, entry.via, entry.reason) == ("operator", "api", "the others are closed today")

    def test_happens_once(self, api, held):
        url = f"{URL}/{held['lab_region_rollup'].pk}/fire"
        api.post(url)
        answer = api.post(url)
        assert answer.status_code == 409
        assert "not held any more" in answer.json()["detail"]
        assert DagRun.objects.count() == 1

    def test_is_not_for_viewers(self, api_of, held):
        assert api_of(roles.VIEWER).post(f"{URL}/{held['lab_region_rollup'].pk}/fire").status_code == 403
        assert not DagRun.objects.exists()

    def test_refuses_a_body_that_does_not_fit(self, api, held):
        url = f"{URL}/{held['lab_region_rollup'].pk}/fire"
        assert api.post(url, {"why": "x"}).status_code == 422
        assert api.post(url, {"reason": "x" * 1001}).status_code == 422


class TestCancel:
    def test_closes_it_without_a_run(self, api, held):
        answer = api.post(f"{URL}/{held['lab_region_rollup'].pk}/cancel", {"reason": "a test"})
        assert (answer.json()["state"], answer.json()["closed_by"]) == ("cancelled", "operator")
        assert not DagRun.objects.exists()

    def test_the_next_event_opens_the_next_round(self, api, held, emit):
        api.post(f"{URL}/{held['lab_region_rollup'].pk}/cancel")
        emit("regional_orders", "jp")
        [row] = api.get(f"{URL}?dag_id=lab_region_rollup").json()["held_runs"]
        assert row["round"] == 2


class TestReevaluate:
    def test_has_it_judged_once_more(self, api, held):
        row = held["lab_region_rollup"]
        assert row.judge_after is None
        assert api.post(f"{URL}/{row.pk}/reevaluate").status_code == 200
        row.refresh_from_db()
        assert row.judge_after is not None


class TestWhereDashboardsLook:
    def test_lists_the_newest_first_with_what_they_became(self, api, held, emit):
        emit("regional_orders", "jp", "us")
        found = api.get("/ui/partitioned_dag_runs").json()
        states = {row["dag_id"]: row["state"] for row in found["partitioned_dag_runs"]}
        assert states["lab_region_rollup"] == "queued"
        assert states["lab_daily_sales"] == "pending"
        assert found["asset_expressions"]["lab_and_of_three"].keys() == {"all"}

    @pytest.mark.parametrize(("fired", "count"), [("true", 0), ("false", 1)])
    def test_lists_held_or_fired_ones(self, api, held, fired, count):
        url = f"/ui/partitioned_dag_runs?dag_id=lab_daily_sales&has_created_dag_run_id={fired}"
        assert api.get(url).json()["total"] == count

    def test_does_not_show_what_is_not_for_a_partition(self, api, lab, settle):
        api.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk})
        settle()
        assert HeldRun.objects.filter(dag__dag_id="lab_plain_consumer").exists()
        assert api.get("/ui/partitioned_dag_runs").json()["total"] == 0

    def test_shows_one_until_it_has_fired(self, api, held, emit):
        url = "/ui/pending_partitioned_dag_run/lab_region_rollup?partition_key=all_regions"
        assert api.get(url).json()["total_required"] == 3
        emit("regional_orders", "jp", "us")
        assert api.get(url).status_code == 404

    def test_asks_for_the_key(self, api, lab):
        answer = api.get("/ui/pending_partitioned_dag_run/lab_region_rollup")
        assert answer.json()["detail"][0]["loc"] == ["query", "partition_key"]

    def test_tells_what_the_oldest_waits_for(self, api, held):
        found = api.get("/ui/next_run_assets/lab_daily_sales").json()
        assert found["pending_partition_count"] == 1
        assert found["events"][0]["received_count"] == 21

    def test_has_nothing_to_tell_of_a_dag_without_partitions(self, api, lab):
        assert api.get("/ui/next_run_assets/lab_plain").json() == {
            "asset_expression": None,
            "events": [],
            "pending_partition_count": None,
        }

    @pytest.mark.parametrize("url", ["/ui/partitioned_dag_runs?dag_id=nope", "/ui/next_run_assets/nope"])
    def test_knows_no_other_dag(self, api, lab, url):
        assert api.get(url).status_code == 404


class TestLate:
    @pytest.fixture
    def late(self, held):
        """The day is late: hour 09 was expected of a Dag, long ago."""
        dag = world.dag(
            "ingest_hours",
            {"type": "CronPartitionTimetable", "cron": "0 * * * *"},
            start_date=datetime(2026, 3, 1, tzinfo=UTC),
            is_paused=True,
        )
        Outlet.objects.create(dag=dag, asset=Asset.objects.get(name="hourly_sales"), task_id="write")
        row = held["lab_daily_sales"]
        HeldRun.objects.filter(pk=row.pk).update(late_at=NOW)
        return row

    def test_says_since_when_and_who_owes_what(self, api, late):
        found = api.get(f"{URL}/{late.pk}").json()
        assert (found["is_late"], found["late_at"]) == (True, "2026-03-11T09:10:00Z")
        assert (found["expected_at"], found["owed_by"]) == ("2026-03-10T09:00:00Z", ["ingest_hours"])
        [asset] = found["assets"]
        assert [each["partition_key"][11:13] for each in asset["missing"]] == ["09", "11", "22"]
        assert asset["missing"][0] == {
            "partition_key": "2026-03-10T09:00:00",
            "expected_at": "2026-03-10T09:00:00Z",
            "expected_by": "the tick of ingest_hours, and as long as its runs take",
            "owed_by": ["ingest_hours"],
            "sensors": [],
            "last_dag_run_id": None,
            "last_dag_run_state": None,
            "held_run_id": None,
        }

    def test_names_the_last_attempt(self, api, late):
        answer = api.post("/api/v2/dags/ingest_hours/dagRuns", {"partition_key": "2026-03-10T09:00:00"})
        [asset] = api.get(f"{URL}/{late.pk}").json()["assets"]
        assert asset["missing"][0]["last_dag_run_id"] == answer.json()["dag_run_id"]
        assert asset["missing"][0]["last_dag_run_state"] == "queued"

    def test_narrows_to_those_that_are_late_or_to_the_others(self, api, late):
        everything = api.get(URL).json()["total_entries"]
        assert rows(api.get(f"{URL}?is_late=true")) == [("lab_daily_sales", "2026-03-10")]
        assert api.get(f"{URL}?is_late=false").json()["total_entries"] == everything - 1
        assert api.get(f"{URL}?is_late=maybe").status_code == 422

    def test_what_was_cancelled_is_not_late_any_more(self, api, late):
        found = api.post(f"{URL}/{late.pk}/cancel", {}).json()
        assert (found["is_late"], found["owed_by"], found["expected_at"]) == (False, [], None)
