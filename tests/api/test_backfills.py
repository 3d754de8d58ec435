"""Backfills over the API: as Airflow's scripts ask for them, and by selection, keys and states."""

import pytest

from core.models import Backfill, Dag, DagRun, JournalEntry
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from tests.api.backfilling import HOURS, URL, begun, keys, planned
from tests.backfills.play import days, drive, producer, turn
from tests.engine.world import NOW, asset, emit, start

pytestmark = pytest.mark.django_db


class TestAirflowsDates:
    """What scripts for Airflow send, and get."""

    def test_both_ends_are_included(self, api, lab):
        assert keys(planned(api, **HOURS)) == [f"2026-02-18T0{hour}:00:00" for hour in (0, 1, 2)]

    def test_unless_the_last_is_not(self, api, lab):
        assert len(keys(planned(api, **HOURS, end_exclusive=True))) == 2

    def test_are_needed_where_nothing_else_says_which_keys(self, api, load):
        problems = planned(api, 422)["detail"]
        assert [each["loc"] for each in problems] == [["body", "from_date"], ["body", "to_date"]]
        [problem] = planned(api, 422, from_date="2026-03-01")["detail"]
        assert (problem["type"], problem["loc"]) == ("missing", ["body", "to_date"])

    def test_the_dag_is_needed(self, api, load):
        answer = api.post(URL, {"selection": "*"})
        assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["body", "dag_id"])

    def test_in_the_wrong_order_are_refused_in_a_sentence(self, api, lab):
        body = HOURS | {"to_date": "2026-02-17T00:00:00Z"}
        assert planned(api, 422, **body)["detail"] == "from_date must not be later than to_date"

    def test_one_backfill_at_a_time(self, api, lab):
        first = begun(api, **HOURS)
        assert begun(api, 409, **HOURS)["detail"] == (
            "There is already a running backfill for dag lab_hourly_sales"
        )
        assert api.put(f"{URL}/{first['id']}/cancel").status_code == 200
        begun(api, **HOURS)

    def test_newest_first_with_conf(self, api, lab):
        found = begun(api, **HOURS, run_backwards=True, dag_run_conf={"fast": True}, max_active_runs=1)
        assert (found["dag_run_conf"], found["run_backwards"]) == ({"fast": True}, True)
        turn(NOW)
        backfill = Backfill.objects.get()
        drive(backfill, at=backfill.created_at)
        first = DagRun.objects.order_by("pk").first()
        assert (first.partition_key, first.conf) == ("2026-02-18T02:00:00", {"fast": True})

    def test_all_of_whose_keys_have_data_are_refused(self, api, lab):
        emit("hourly_sales", *(f"2026-02-18T0{hour}:00:00" for hour in (0, 1, 2)))
        assert "all 3 keys are left out (3: it has data)" in begun(api, 409, **HOURS)["detail"]
        assert begun(api, **HOURS, reprocess_behavior="completed")["partitions"]["planned"] == 3

    def test_of_hours_that_hit_nothing_are_refused(self, api, lab):
        body = HOURS | {"from_date": "2026-02-18T00:10:00Z", "to_date": "2026-02-18T00:20:00Z"}
        assert begun(api, 422, **body)["detail"].startswith("No runs to create for Dag lab_hourly_sales")


class TestStart:
    def test_of_the_plan_that_was_shown(self, api, load):
        plan = planned(api, selection="[2026-03-01...2026-03-03]")["plan"]
        found = begun(api, selection="[2026-03-01...2026-03-03]", plan=plan, title="repair")
        assert found["partitions"] == {
            "planned": 3,
            "done": 0,
            "failed": 0,
            "skipped": 0,
            "cancelled": 0,
            "open": 3,
        }
        assert (found["status"], found["title"], found["keys"], found["dag_ids"]) == (
            "running",
            "repair",
            "[2026-03-01...2026-03-03]",
            ["load"],
        )

    def test_of_one_that_has_changed_is_refused(self, api, load):
        plan = planned(api, selection="[2026-03-01...2026-03-03]")["plan"]
        emit("days", "2026-03-02")
        detail = begun(api, 409, selection="[2026-03-01...2026-03-03]", plan=plan)["detail"]
        assert detail.startswith("the plan has changed since it was shown: 3 partitions would have run, now")
        assert not Backfill.objects.exists()

    @pytest.mark.parametrize(
        "plan",
        ["x~y~z", "2026-03-08", "2026-03-08~0~x", "2026-03-08T09:00:00~9~x", "9999-12-31T23:59:59-14:00~0~x"],
    )
    def test_of_a_plan_that_nobody_was_shown_is_refused(self, api, load, plan):
        detail = begun(api, 409, selection="2026-03-02", plan=plan)["detail"]
        assert detail.startswith("the plan has changed since it was shown: ")

    def test_by_state(self, api, load):
        emit("days", *days(1, 8))
        found = begun(api, states="missing")
        assert (found["partitions"]["planned"], found["keys"]) == (2, "missing of every key")

    def test_is_dated_for_clients_that_insist_on_dates(self, api, load):
        found = begun(api, selection="*")
        assert found["from_date"] == found["to_date"] == found["created_at"]

    def test_of_several_dags(self, api):
        producer("a", "as"), producer("b", "bs")
        answer = api.post(URL, {"dag_ids": ["a", "b"], "partition_keys": ["2026-03-01"]})
        assert (answer.json()["dag_ids"], answer.json()["dag_id"]) == (["a", "b"], "a")

    def test_is_in_the_journal_in_airflows_words(self, api, load):
        begun(api, selection="*")
        entry = JournalEntry.objects.get(event="backfill started")
        assert (entry.by, entry.via) == ("operator", "api")
        logs = api.get("/api/v2/eventLogs?event=create_backfill").json()["event_logs"]
        assert [(log["dag_id"], log["owner"]) for log in logs] == [("load", "operator")]

    def test_of_composite_keys(self, api):
        both = MultiPartitions(
            {"region": StaticPartitions(["tw", "us"]), "day": DailyPartitions("2026-03-09")}
        )
        producer(writes=asset("both", partitions=specs.dump(both)).name)
        assert keys(planned(api, selection="*|2026-03-10")) == ["tw|2026-03-10", "us|2026-03-10"]

    def test_hides_secrets_of_its_conf(self, api, load):
        assert begun(api, selection="*", dag_run_conf={"password": "hunter2"})["dag_run_conf"] == {
            "password": "***"
        }


class TestSteering:
    @pytest.fixture
    def backfill(self, api, load):
        return f"{URL}/{begun(api, selection='*', max_active_runs=1)['id']}"

    def test_pause_and_unpause_may_be_repeated(self, api, backfill):
        for _ in range(2):
            assert api.put(f"{backfill}/pause").json()["is_paused"] is True
        assert api.get(backfill).json()["status"] == "paused"
        for _ in range(2):
            assert api.put(f"{backfill}/unpause").json()["is_paused"] is False

    def test_cancel_completes_it_for_clients_at_once(self, api, backfill):
        turn(NOW)
        found = api.put(f"{backfill}/cancel").json()
        assert (found["is_paused"], found["status"]) == (True, "cancelled")
        assert found["completed_at"] is not None

    def test_cancel_while_a_run_goes_on(self, api, backfill):
        row = Backfill.objects.get()
        turn(row.created_at)
        start(DagRun.objects.first(), at=row.created_at)
        found = api.put(f"{backfill}/cancel").json()
        assert (found["status"], found["partitions"]["open"]) == ("cancelling", 1)
        assert found["completed_at"] is not None

    @pytest.mark.parametrize("deed", ["pause", "unpause", "cancel"])
    def test_nothing_can_be_done_to_one_that_is_over(self, api, backfill, deed):
        api.put(f"{backfill}/cancel")
        answer = api.put(f"{backfill}/{deed}")
        assert (answer.status_code, answer.json()) == (409, {"detail": "Backfill is already completed."})

    def test_retry_runs_again_what_failed(self, api, backfill):
        row = Backfill.objects.get()
        drive(row, at=row.created_at, fail=["2026-03-03"])
        assert api.get(backfill).json()["status"] == "failed"
        found = api.post(f"{backfill}/retry", {"reason": "disk is back"}).json()
        assert (found["status"], found["partitions"]["open"], found["completed_at"]) == ("running", 1, None)
        assert JournalEntry.objects.get(event="backfill retried").reason == "disk is back"

    def test_retry_of_what_was_cancelled_only_if_asked(self, api, backfill):
        api.put(f"{backfill}/cancel")
        assert api.post(f"{backfill}/retry", {}).status_code == 409
        assert api.post(f"{backfill}/retry", {"and_cancelled": True}).json()["partitions"]["open"] > 0

    def test_its_limit_can_be_changed(self, api, backfill):
        assert api.patch(backfill, {"max_active_runs": 7}).json()["max_active_runs"] == 7
        assert api.patch(backfill, {"max_active_runs": 0}).status_code == 422

    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("get", ""),
            ("patch", ""),
            ("put", "/pause"),
            ("put", "/unpause"),
            ("put", "/cancel"),
            ("post", "/retry"),
            ("get", "/partitions"),
        ],
    )
    def test_one_that_is_not_there(self, api, method, path):
        body = {"max_active_runs": 1} if method == "patch" else {}
        assert getattr(api, method)(f"{URL}/4711{path}", body).status_code == 404
        assert getattr(api, method)(f"{URL}/x{path}", body).status_code == 422


class TestGoneDags:
    def test_a_dag_that_is_not_defined_any_more_cannot_be_backfilled(self, api, load):
        Dag.objects.update(is_active=False)
        assert "not defined any more" in begun(api, 409, selection="*")["detail"]
