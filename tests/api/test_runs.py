"""Runs by the API: triggered, changed, deleted."""

import pytest
from django.utils import timezone

from core.models import Dag, DagRun, HeldRun, JournalEntry
from partitions_site import roles
from scheduling import claims

ALL = "/api/v2/dags/~/dagRuns"
HOURLY = "/api/v2/dags/lab_hourly_sales/dagRuns"
REGION = "/api/v2/dags/lab_region_rollup/dagRuns"
PLAIN = "/api/v2/dags/lab_plain/dagRuns"


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
            (HOURLY, {}, 400),
            (REGION, {"partition_key": None}, 400),
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
