"""Requests that nobody means well: every address answers them, none falls over, nothing gets through."""

import json
from urllib.parse import quote

import pytest
from rest_framework.test import APIClient

from core.models import AssetEvent, Dag, DagRun, JournalEntry
from partitions_site import roles
from partitions_site.api.auth import SIGNED_IN, Address
from tests.api.paper import operations

pytestmark = pytest.mark.django_db

OPERATIONS = operations()

SEGMENTS = [
    "\x00",
    "a\nb",
    "../../etc/passwd",
    "~",
    "9" * 40,
    "-1",
    "1.5",
    "<img src=x onerror=alert(1)>",
    "{{7*7}}",
    "é\U0001f600",
    "\udcff",
    "a" * 5000,
    "' OR 1=1 --",
    "%",
]

VALUES = [
    *(each for each in SEGMENTS if each != "\udcff"),
    "",
    "true",
    "nan",
    "inf",
    "1e999",
    "0001-01-01",
    "9999-12-31T23:59:59-14:00",
]

BODIES = [
    None,
    True,
    0,
    "text",
    [],
    [[]],
    [None],
    {"": ""},
    {"__class__": "x", "pk": 1, "id": 1, "state": "success"},
    {"asset_id": {"a": 1}, "partition_key": {}, "extra": "x", "idempotency_key": []},
    {"asset_id": True, "partition_key": ["x"], "extra": []},
    {"partition_key": {"$ne": ""}, "conf": "x", "note": 5, "dag_run_id": []},
    {"actions": {}},
    {"actions": [None]},
    {"actions": [{"action": "delete", "entities": {}}]},
    {"actions": [{"action": "update", "entities": [5, None, {"dag_run_id": None}]}]},
    {"dag_runs": [None], "partition_key": 1},
    {"dag_ids": {}, "states": "x", "order_by": 1, "page_limit": 2**70},
    {"is_paused": []},
    {"name": "\x00", "days": 10**30},
    {"username": ["a"], "password": {"b": 1}},
    {"reason": {"a": 1}},
]


@pytest.fixture
def hostile(lab, user_of):
    """An admin's client that is told of a crash by its status, not by an exception."""
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(user_of(roles.ADMIN))
    return client


def name(each):
    return f"{each[1]} {each[0]}"


def filled(path, segment="1"):
    for parameter in path.split("{")[1:]:
        path = path.replace("{" + parameter.partition("}")[0] + "}", segment)
    return path


def crashed(answer):
    return answer.status_code >= 500 and not (answer.status_code == 503 and b"reasons" in answer.content)


class TestAnyAddress:
    @pytest.mark.parametrize("operation", [each for each in OPERATIONS if "{" in each[0]], ids=name)
    def test_takes_any_path(self, hostile, operation):
        path, method, _ = operation
        for segment in SEGMENTS:
            url = filled(path, quote(segment, safe="", errors="surrogateescape"))
            answer = hostile.generic(method.upper(), url, "{}", content_type="application/json")
            assert not crashed(answer), url

    @pytest.mark.parametrize("operation", [each for each in OPERATIONS if each[1] == "get"], ids=name)
    def test_takes_any_query(self, hostile, operation):
        path, _, described = operation
        names = [each["name"] for each in described.get("parameters", ()) if each["in"] == "query"]
        for value in VALUES:
            for parameter in names:
                answer = hostile.get(filled(path), {parameter: value})
                assert not crashed(answer), (parameter, value)

    @pytest.mark.parametrize(
        "operation", [each for each in OPERATIONS if each[1] in ("post", "patch")], ids=name
    )
    def test_takes_any_body(self, hostile, operation):
        path, method, _ = operation
        for body in BODIES:
            answer = hostile.generic(
                method.upper(), filled(path), json.dumps(body), content_type="application/json"
            )
            assert not crashed(answer), body

    @pytest.mark.parametrize("operation", OPERATIONS, ids=name)
    def test_answers_only_as_it_says(self, hostile, operation):
        path, method, described = operation
        answer = hostile.generic(method.upper(), filled(path), "{}", content_type="application/json")
        assert str(answer.status_code) in described["responses"]


class TestMarkup:
    """What somebody wrote comes back as JSON that no browser takes for a page."""

    BAD = '<img src=x onerror=alert(1)>{{7*7}}"'

    def test_in_keys_and_extra(self, hostile, lab):
        body = {"asset_id": lab["plain_asset"].pk, "partition_key": self.BAD, "extra": {self.BAD: self.BAD}}
        answer = hostile.post("/api/v2/assets/events", body)
        assert answer.json()["partition_key"] == self.BAD
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"

    def test_in_refusals(self, hostile):
        answer = hostile.get("/api/v2/assets", {"order_by": self.BAD})
        assert answer.status_code == 400
        assert answer.headers["Content-Type"] == "application/json"

    def test_whatever_the_request_would_rather_have(self, hostile):
        answer = hostile.get(f"/api/v2/dags/{quote(self.BAD)}", HTTP_ACCEPT="text/html")
        assert answer.headers["Content-Type"] == "application/json"


class TestMassAssignment:
    def test_an_event_has_no_other_fields(self, hostile, lab):
        for extra in ("timestamp", "source", "created_by", "routed_at", "id", "source_run_id"):
            body = {"asset_id": lab["plain_asset"].pk, extra: "x"}
            assert hostile.post("/api/v2/assets/events", body).status_code == 422
        assert not AssetEvent.objects.exists()

    def test_a_run_has_no_other_fields(self, hostile):
        for extra in ("state", "run_type", "triggered_by", "created_by", "attempt", "dag"):
            assert hostile.post("/api/v2/dags/lab_plain/dagRuns", {extra: "success"}).status_code == 422
        assert not DagRun.objects.exists()

    def test_a_dag_has_no_other_fields(self, hostile):
        for extra in ("schedule", "tags", "max_active_runs", "is_active"):
            body = {"is_paused": True, extra: "x"}
            assert hostile.patch("/api/v2/dags/lab_plain", body).status_code == 422
        assert not Dag.objects.filter(is_paused=True).exists()


class TestWhoIsBelieved:
    def test_nobody_names_who_did_it(self, hostile, lab):
        hostile.post(
            "/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk}, HTTP_X_FORWARDED_USER="root"
        )
        assert JournalEntry.objects.get(event="asset event recorded").by == "admin"

    def test_a_line_break_in_a_reason_makes_no_second_entry(self, hostile, lab):
        run = hostile.post(
            "/api/v2/dags/lab_plain/dagRuns", {"note": "x\n2026-01-01 root: run deleted"}
        ).json()
        assert JournalEntry.objects.filter(event="run deleted").count() == 0
        assert run["note"].startswith("x\n")

    def test_a_method_cannot_be_smuggled(self, api_of, lab):
        viewer = api_of(roles.VIEWER)
        for header in ("HTTP_X_HTTP_METHOD_OVERRIDE", "HTTP_X_METHOD_OVERRIDE"):
            viewer.get("/api/v2/dags/lab_plain", **{header: "PATCH"})
            assert (
                viewer.post("/api/v2/dags/lab_plain", {"_method": "PATCH"}, **{header: "PATCH"}).status_code
                == 405
            )

    def test_the_rights_of_a_user_that_lost_them_are_gone(self, api_of, user_of, lab):
        client, user = api_of(roles.OPERATOR), user_of(roles.OPERATOR)
        user.groups.clear()
        client.force_authenticate(type(user).objects.get(pk=user.pk))
        assert client.post("/api/v2/dags/lab_plain/dagRuns", {}).status_code == 403

    def test_signed_in_is_no_right_that_somebody_could_be_given(self):
        assert "." not in SIGNED_IN
        assert Address.needs == {}
