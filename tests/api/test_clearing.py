"""Runs that are cleared, by themselves, by partitions and in bulk."""

import pytest
from django.utils import timezone

from core.models import DagRun
from partitions_site import roles
from scheduling import claims

ALL = "/api/v2/dags/~/dagRuns"
HOURLY = "/api/v2/dags/lab_hourly_sales/dagRuns"
REGION = "/api/v2/dags/lab_region_rollup/dagRuns"
PLAIN = "/api/v2/dags/lab_plain/dagRuns"


def address(run):
    return f"/api/v2/dags/{run['dag_id']}/dagRuns/{run['dag_run_id'].replace('+', '%2B')}"


class TestClear:
    def test_says_what_would_run_unless_told_otherwise(self, api, lab, ended):
        run = ended(api.post(REGION, {"partition_key": "all_regions"}).json())
        found = api.post(f"{address(run)}/clear", {}).json()
        assert [task["task_id"] for task in found["task_instances"]] == ["combine"]
        assert DagRun.objects.get().state == "success"

    def test_runs_it_again(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        found = api.post(f"{address(run)}/clear", {"dry_run": False, "note": "again"}).json()
        assert (found["dag_run_id"], found["state"], found["note"]) == (run["dag_run_id"], "queued", "again")

    def test_may_leave_out_what_did_not_fail(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        assert api.post(f"{address(run)}/clear", {"only_failed": True}).json()["total_entries"] == 0
        assert api.post(f"{address(run)}/clear", {"only_new": True}).json()["total_entries"] == 0

    @pytest.mark.parametrize(
        ("body", "count"),
        [
            ({"partition_key": "2026-03-10T09:00:00"}, 1),
            ({"partition_date_start": "2026-03-10", "partition_date_end": "2026-03-12"}, 2),
            ({"partition_date_start": "2026-03-11T00:00:00Z"}, 1),
            ({"partition_date_start": "2027-01-01"}, 0),
        ],
    )
    def test_of_many_by_key_or_date(self, api, lab, ended, body, count):
        for key in ("2026-03-10T09:00:00", "2026-03-11T09:00:00"):
            ended(api.post(HOURLY, {"partition_key": key}).json())
        url = "/api/v2/dags/lab_hourly_sales/clearDagRuns"
        assert api.post(url, body).json()["total_entries"] == count
        again = api.post(url, body | {"dry_run": False}).json()
        assert [run["state"] for run in again["dag_runs"]] == ["queued"] * count

    def test_of_many_by_id(self, api, lab, ended):
        run = ended(api.post(PLAIN, {}).json())
        url = "/api/v2/dags/lab_plain/clearDagRuns"
        body = {"dag_runs": [{"dag_run_id": run["dag_run_id"]}]}
        assert api.post(url, body).json()["total_entries"] == 1
        assert api.post(url, {"dag_runs": [{"dag_run_id": "nope"}]}).status_code == 404

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"partition_key": "x", "dag_runs": []},
            {"partition_key": "x", "partition_date_end": "2026-01-01"},
            {"dag_runs": [{"dag_run_id": "x"}] * 1001},
        ],
    )
    def test_of_many_names_them_in_one_way_and_not_too_many(self, api, lab, body):
        assert api.post("/api/v2/dags/lab_plain/clearDagRuns", body).status_code == 400


class TestClearPartitions:
    URL = "/api/v2/dags/lab_hourly_sales/clearPartitions"

    def test_counts_unless_told_otherwise(self, api_of, lab):
        editor = api_of(roles.EDITOR)
        run = editor.post(HOURLY, {"partition_key": "2026-03-10T09:00:00"}).json()
        body = {"run_id": run["dag_run_id"], "clear_task_instances": True}
        assert editor.post(self.URL, body).json() == {
            "dag_runs_cleared": 1,
            "task_instances_cleared": 1,
            "dry_run": True,
        }
        assert DagRun.objects.get().partition_key == "2026-03-10T09:00:00"

    def test_blanks_the_partition(self, api_of, lab):
        editor = api_of(roles.EDITOR)
        editor.post(HOURLY, {"partition_key": "2026-03-10T09:00:00"})
        editor.post(self.URL, {"partition_key": "2026-03-10T09:00:00", "dry_run": False})
        run = DagRun.objects.get()
        assert (run.partition_key, run.partition_date, run.state) == (None, None, "queued")


class TestBulk:
    @pytest.fixture
    def editor(self, api_of, lab):
        return api_of(roles.EDITOR)

    def test_updates_and_deletes(self, editor, ended):
        first, second = (ended(editor.post(PLAIN, {}).json()) for _ in "ab")
        actions = [
            {
                "action": "update",
                "entities": [{"dag_run_id": first["dag_run_id"], "state": "failed", "note": "x"}],
                "update_mask": ["note"],
            },
            {"action": "delete", "entities": [second["dag_run_id"]]},
        ]
        found = editor.patch(PLAIN, {"actions": actions}).json()
        assert found["update"] == {"success": [f"lab_plain.{first['dag_run_id']}"], "errors": []}
        assert found["delete"] == {"success": [f"lab_plain.{second['dag_run_id']}"], "errors": []}
        assert found["create"] is None
        run = DagRun.objects.get()
        assert (run.note, run.state) == ("x", "success")

    def test_does_nothing_for_one_that_is_not_there_unless_told_to_skip_it(self, editor):
        run = editor.post(PLAIN, {}).json()
        action = {"action": "delete", "entities": [run["dag_run_id"], "nope"]}
        found = editor.patch(PLAIN, {"actions": [action]}).json()
        assert [error["status_code"] for error in found["delete"]["errors"]] == [404]
        assert DagRun.objects.count() == 1
        found = editor.patch(PLAIN, {"actions": [action | {"action_on_non_existence": "skip"}]}).json()
        assert found["delete"]["errors"] == []
        assert not DagRun.objects.exists()

    def test_tells_what_could_not_be_done(self, editor):
        editor.post(PLAIN, {"dag_run_id": "x"})
        claims.claim(DagRun.objects.get().pk, worker="w", now=timezone.now())
        found = editor.patch(PLAIN, {"actions": [{"action": "delete", "entities": ["x"]}]}).json()
        assert [error["status_code"] for error in found["delete"]["errors"]] == [409]

    def test_of_too_many_does_none(self, editor, django_assert_max_num_queries):
        editor.post(PLAIN, {"dag_run_id": "x"})
        action = {"action": "delete", "entities": ["x"] * 501}
        with django_assert_max_num_queries(5):
            answer = editor.patch(PLAIN, {"actions": [action, action]})
        assert answer.json()["detail"][0]["msg"] == "At most 1000 runs, not 1002"
        assert DagRun.objects.count() == 1

    def test_of_all_dags_names_the_dag_of_each(self, editor):
        editor.post(PLAIN, {"dag_run_id": "x"})
        entity = {"dag_id": "lab_plain", "dag_run_id": "x", "note": "n"}
        found = editor.patch(ALL, {"actions": [{"action": "update", "entities": [entity]}]}).json()
        assert found["update"]["success"] == ["lab_plain.x"]

    def test_deletes_nothing_for_operators(self, api, lab):
        api.post(PLAIN, {"dag_run_id": "x"})
        assert api.patch(PLAIN, {"actions": [{"action": "delete", "entities": ["x"]}]}).status_code == 403
        update = {"action": "update", "entities": [{"dag_run_id": "x", "note": "n"}]}
        assert api.patch(PLAIN, {"actions": [update]}).status_code == 200

    @pytest.mark.parametrize(
        "body", [{}, {"actions": [{"action": "create", "entities": []}]}, {"actions": [{"action": "delete"}]}]
    )
    def test_refuses_what_does_not_fit(self, editor, body):
        assert editor.patch(PLAIN, body).status_code == 422
