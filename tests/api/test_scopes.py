"""Tokens for less than their owner may, and answers that somebody has already."""

import pytest
from rest_framework.test import APIClient

from core.models import DagRun
from partitions_site import roles
from partitions_site.models import ApiToken

pytestmark = pytest.mark.django_db

Scope = ApiToken.Scope


@pytest.fixture
def with_token(lab, user_of):
    def with_token(scope, role=roles.ADMIN):
        _, token = ApiToken.objects.create(user=user_of(role), expiry=None, scope=scope)
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        return client

    return with_token


def trigger(client):
    return client.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "x"}).status_code


class TestScopes:
    def test_a_token_to_read_reads(self, with_token):
        client = with_token(Scope.READ)
        assert client.get("/api/v2/dags").status_code == 200
        assert client.post("/api/v2/dags/~/dagRuns/list", {}).status_code == 200
        assert trigger(client) == 403
        assert client.patch("/api/v2/dags/lab_plain", {"is_paused": True}).status_code == 403

    @pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
    def test_every_token_asks_what_a_dag_makes_of_keys(self, with_token, scope):
        url, asked = "/api/v2/dags/lab_daily_sales/mapping/preview", {"keys": ["2026-03-10T09:00:00"]}
        told = with_token(scope).post(url, asked).json()
        assert [each["key"] for each in told["present"][0]["downstream"]] == ["2026-03-10"]

    @pytest.mark.parametrize(("scope", "status"), [(Scope.READ, 403), (Scope.WRITE, 403), (Scope.ALL, 200)])
    def test_another_schedule_is_tried_by_those_that_may_change_it(self, with_token, scope, status):
        client = with_token(scope)
        schedule = client.get("/api/v2/dags/lab_daily_sales/schedule").json()["schedule"]
        url = "/api/v2/dags/lab_daily_sales/mapping/preview"
        assert client.post(url, {"schedule": schedule}).status_code == status

    def test_a_token_to_write_does_what_operators_do(self, with_token):
        client = with_token(Scope.WRITE)
        assert trigger(client) == 200
        assert client.delete("/api/v2/dags/lab_plain/dagRuns/x").status_code == 403
        assert client.post("/api/v2/pools", {"name": "p", "slots": 1}).status_code == 403

    @pytest.mark.parametrize("dag_id", ["~", "lab_plain"])
    def test_nor_does_a_body_make_it_do_more(self, with_token, dag_id):
        """Many runs are deleted with a PATCH, whose address is one that operators may use."""
        assert trigger(with_token(Scope.WRITE)) == 200
        url, entity = f"/api/v2/dags/{dag_id}/dagRuns", {"dag_id": "lab_plain", "dag_run_id": "x"}
        actions = {"actions": [{"action": "delete", "entities": [entity]}]}
        assert with_token(Scope.WRITE).patch(url, actions).status_code == 403
        assert DagRun.objects.count() == 1
        noted = {"action": "update", "entities": [entity | {"note": "n"}], "update_mask": ["note"]}
        assert with_token(Scope.WRITE).patch(url, {"actions": [noted]}).status_code == 200
        assert with_token(Scope.ALL).patch(url, actions).status_code == 200
        assert not DagRun.objects.exists()

    def test_a_token_for_all_does_what_its_owner_may(self, with_token):
        client = with_token(Scope.ALL)
        assert trigger(client) == 200
        assert client.delete("/api/v2/dags/lab_plain/dagRuns/x").status_code == 204

    def test_no_token_is_for_more_than_its_owner_may(self, with_token):
        for scope in (Scope.WRITE, Scope.ALL):
            assert trigger(with_token(scope, roles.VIEWER)) == 403

    @pytest.mark.parametrize("scope", [Scope.READ, Scope.WRITE])
    def test_none_makes_or_ends_other_tokens(self, with_token, scope):
        client = with_token(scope)
        assert client.post("/auth/tokens", {"name": "more", "scope": "all"}).status_code == 403
        other = ApiToken.objects.get().token_key
        assert client.delete(f"/auth/tokens/{other}").status_code == 403
        assert ApiToken.objects.count() == 1

    def test_is_said_when_it_is_made_and_listed(self, api):
        made = api.post("/auth/tokens", {"name": "metrics", "scope": "read", "days": 30}).json()
        assert made["scope"] == "read"
        assert [each["scope"] for each in api.get("/auth/tokens").json()] == ["read"]
        assert api.post("/auth/tokens", {"name": "x"}).json()["scope"] == "all"
        assert api.post("/auth/tokens", {"name": "x", "scope": "root"}).status_code == 422


class TestTags:
    """Lists and details say which state of them was answered."""

    @pytest.mark.parametrize(
        "url", ["/api/v2/dags", "/api/v2/dags/lab_plain", "/api/v2/assets", "/api/v2/backfills?dag_id=~"]
    )
    def test_the_same_again_is_not_sent_again(self, api, lab, url):
        first = api.get(url)
        again = api.get(url, HTTP_IF_NONE_MATCH=first.headers["ETag"])
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["ETag"] == first.headers["ETag"]

    def test_what_has_changed_is(self, api, lab):
        tag = api.get("/api/v2/dags/lab_plain").headers["ETag"]
        api.patch("/api/v2/dags/lab_plain", {"is_paused": True})
        answer = api.get("/api/v2/dags/lab_plain", HTTP_IF_NONE_MATCH=tag)
        assert (answer.status_code, answer.json()["is_paused"]) == (200, True)

    def test_no_cache_on_the_way_keeps_or_shares_it(self, api, lab):
        answer = api.get("/api/v2/dags")
        assert answer.headers["Cache-Control"] == "private, no-cache"
        assert {"Authorization", "Cookie"} <= {each.strip() for each in answer.headers["Vary"].split(",")}

    def test_whoever_may_not_look_learns_nothing_from_a_tag(self, api, anyone, lab):
        tag = api.get("/api/v2/dags").headers["ETag"]
        assert anyone.get("/api/v2/dags", HTTP_IF_NONE_MATCH=tag).status_code == 401

    def test_refusals_have_none(self, api, lab):
        assert "ETag" not in api.get("/api/v2/dags/nope").headers


class TestExtra:
    """What describes an event is bounded in bytes and in depth."""

    def report(self, api, lab, extra):
        return api.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk, "extra": extra})

    def test_of_some_size_is_kept(self, api, lab):
        assert self.report(api, lab, {"text": "x" * 60_000}).status_code == 200

    def test_that_is_too_long_is_refused(self, api, lab):
        [problem] = self.report(api, lab, {"text": "ü" * 33_000}).json()["detail"]
        assert (problem["type"], problem["loc"]) == ("too_long", ["body", "extra"])
        assert "65536 bytes" in problem["msg"]

    def test_that_is_too_deep_is_refused(self, api, lab):
        deep = {}
        for _ in range(9):
            deep = {"a": deep}
        assert self.report(api, lab, deep).status_code == 200
        [problem] = self.report(api, lab, {"a": [{"a": deep}]}).json()["detail"]
        assert problem["type"] == "too_deep"

    def test_so_is_the_conf_of_a_run(self, api, lab):
        long = {"conf": {"text": "x" * 70_000}}
        assert api.post("/api/v2/dags/lab_plain/dagRuns", long).status_code == 422
        backfill = {"dag_id": "lab_hourly_sales", "selection": "*", "dag_run_conf": long}
        assert api.post("/api/v2/backfills", backfill).status_code == 422
