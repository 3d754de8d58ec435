"""Other systems claim, keep and finish runs over the API."""

from datetime import timedelta
from functools import reduce

import pytest

from core.models import AssetEvent, DagRun, LogLine
from scheduling import runs
from scheduling.runs import Ask
from tests.api.external import trigger
from tests.engine.world import ALICE, NOW, RUNTIME, dag

pytestmark = pytest.mark.django_db
URL = "/api/v2/runs"
WORKER = {"worker": "etl-1", "attempt": 1}
NESTED = reduce(lambda value, _: {"a": value}, range(20), {})


@pytest.fixture
def claimed(api, external):
    trigger(external, "k")
    return api.post(f"{URL}/claim", {"worker": "etl-1"}).json()["runs"][0]


class TestClaim:
    def test_gives_all_that_is_needed_to_execute_a_run(self, claimed):
        row = DagRun.objects.get()
        known = {
            "id": row.pk,
            "dag_id": "load",
            "dag_run_id": row.run_id,
            "partition_key": "k",
            "partition_keys": ["k"],
            "state": "running",
            "attempt": 1,
            "conf": {"n": 1},
            "outlets": ["aside", "out"],
        }
        assert {name: claimed[name] for name in known} == known
        assert claimed["lease_until"] is not None

    def test_gives_the_conf_with_its_secrets_to_whoever_does_the_work_and_to_nobody_else(self, api, external):
        conf = {"table": "t", "password": "hunter2", "deep": [{"token": "x"}]}
        run = runs.trigger(external, Ask("k", conf=conf), deed=ALICE, at=NOW)
        answer = api.post(f"{URL}/claim", {"worker": "etl-1"})
        assert (answer.json()["runs"][0]["conf"], answer.headers["Cache-Control"]) == (conf, "no-store")
        hidden = {"table": "t", "password": "***", "deep": [{"token": "***"}]}
        assert api.get(f"/api/v2/dags/load/dagRuns/{run.run_id}").json()["conf"] == hidden
        for deed, more in (("heartbeat", {}), ("finish", {"state": "success"})):
            assert api.post(f"{URL}/{run.pk}/{deed}", WORKER | more).json()["conf"] == hidden

    def test_gives_nothing_where_nothing_waits(self, api):
        answer = api.post(f"{URL}/claim", {"worker": "etl-1"})
        assert (answer.status_code, answer.json()) == (200, {"runs": []})

    def test_gives_as_many_as_are_asked_for_of_certain_dags(self, api, external):
        trigger(external, "a", "b", "c")
        trigger(dag("other", RUNTIME, executor="external"), "d")
        asked = {"worker": "etl-1", "limit": 2, "dag_ids": ["load"], "lease_seconds": 600}
        found = api.post(f"{URL}/claim", asked).json()["runs"]
        assert [each["partition_key"] for each in found] == ["a", "b"]
        assert [each["partition_key"] for each in api.post(f"{URL}/claim", asked).json()["runs"]] == ["c"]
        left = DagRun.objects.get(partition_key="a")
        assert left.lease_until - left.started_at == timedelta(seconds=600)

    @pytest.mark.parametrize(
        "body",
        [
            {},
            {"worker": ""},
            {"worker": "x" * 151},
            {"worker": "w", "limit": 0},
            {"worker": "w", "limit": 101},
            {"worker": "w", "lease_seconds": 5},
            {"worker": "w", "dag_ids": "load"},
            {"worker": "w", "pool": "p"},
        ],
    )
    def test_that_does_not_fit_is_refused(self, api, external, body):
        trigger(external, "k")
        assert api.post(f"{URL}/claim", body).status_code == 422
        assert DagRun.objects.get().state == "queued"

    def test_of_many_runs_costs_one_look_at_their_outlets(self, api, external):
        trigger(external, "a", "b")
        found = api.post(f"{URL}/claim", {"worker": "w", "limit": 5}).json()["runs"]
        assert [each["outlets"] for each in found] == [["aside", "out"]] * 2


class TestHeartbeat:
    def test_renews_the_lease_and_takes_the_log(self, api, claimed):
        body = WORKER | {"log": "half way", "lease_seconds": 3600}
        answer = api.post(f"{URL}/{claimed['id']}/heartbeat", body)
        assert (answer.status_code, answer.json()["state"]) == (200, "running")
        assert answer.json()["lease_until"] > claimed["lease_until"]
        assert LogLine.objects.get().text == "half way"

    def test_tells_somebody_who_should_stop(self, api, claimed):
        runs.cancel(DagRun.objects.get(), deed=ALICE, at=NOW)
        answer = api.post(f"{URL}/{claimed['id']}/heartbeat", WORKER)
        assert answer.status_code == 409
        assert answer.json()["detail"].endswith("has ended: cancelled; stop working on it")

    def test_of_another_worker_is_a_conflict(self, api, claimed):
        answer = api.post(f"{URL}/{claimed['id']}/heartbeat", WORKER | {"worker": "etl-2"})
        assert answer.status_code == 409

    @pytest.mark.parametrize("run", ["0", "999999"])
    def test_of_no_run_is_404(self, api, run):
        assert api.post(f"{URL}/{run}/heartbeat", WORKER).status_code == 404

    def test_of_something_else_is_422(self, api):
        assert api.post(f"{URL}/some-run/heartbeat", WORKER).status_code == 422


class TestFinish:
    def test_emits_the_runs_key_for_each_outlet(self, api, claimed):
        answer = api.post(f"{URL}/{claimed['id']}/finish", WORKER | {"state": "success"})
        assert (answer.status_code, answer.json()["state"]) == (200, "success")
        assert answer.json()["lease_until"] is None
        assert set(AssetEvent.objects.values_list("asset__name", "partition_key")) == {
            ("out", "k"),
            ("aside", "k"),
        }

    def test_emits_what_was_written_without_secrets(self, api, claimed):
        outputs = [
            {"asset": "out", "keys": {"x": {"rows": 3}}, "extra": {"password": "hunter2", "by": "etl"}},
            {"asset": "aside", "keys": []},
        ]
        api.post(f"{URL}/{claimed['id']}/finish", WORKER | {"state": "success", "outputs": outputs})
        event = AssetEvent.objects.get()
        assert (event.partition_key, event.extra) == ("x", {"password": "***", "by": "etl", "rows": 3})

    def test_of_a_failure_says_why_and_whether_it_is_tried_again(self, api, external, claimed):
        external.retries, external.retry_delay = 1, timedelta(minutes=1)
        external.save()
        body = WORKER | {"state": "failed", "error": "no disk", "log": "bye"}
        answer = api.post(f"{URL}/{claimed['id']}/finish", body).json()
        assert (answer["state"], answer["error"], answer["failures"]) == ("queued", "no disk", 1)
        assert LogLine.objects.get().text == "bye"

    def test_without_a_reason_is_a_failure_all_the_same(self, api, claimed):
        answer = api.post(f"{URL}/{claimed['id']}/finish", WORKER | {"state": "failed"}).json()
        assert (answer["state"], answer["error"]) == ("failed", "it failed")

    def test_happens_once(self, api, claimed):
        for code in (200, 409):
            answer = api.post(f"{URL}/{claimed['id']}/finish", WORKER | {"state": "success"})
            assert answer.status_code == code
        assert AssetEvent.objects.count() == 2

    @pytest.mark.parametrize(
        ("more", "code"),
        [
            ({"state": "skipped"}, 422),
            ({"state": "success", "outputs": {}}, 422),
            ({"state": "success", "failed_keys": []}, 422),
            ({"state": "success", "outputs": [{"asset": "out", "extra": {"a": "x" * 100_000}}]}, 422),
            ({"state": "success", "outputs": [{"asset": "out", "keys": {"k": NESTED}}]}, 422),
            ({"state": "success", "outputs": ["out"]}, 400),
            ({"state": "success", "outputs": [{"asset": "else"}]}, 400),
            ({"state": "success", "outputs": [{"asset": "out", "keys": ["\n"]}]}, 400),
            ({"state": "success", "failed_keys": {"k": 1}}, 400),
        ],
    )
    def test_that_does_not_fit_is_refused_and_ends_nothing(self, api, claimed, more, code):
        answer = api.post(f"{URL}/{claimed['id']}/finish", WORKER | more)
        assert (answer.status_code, DagRun.objects.get().state) == (code, "running")
        assert not AssetEvent.objects.exists()
