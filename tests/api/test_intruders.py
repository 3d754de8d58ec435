"""Programs that want more than is theirs: others' tokens and runs, ways out of a path, lines in a log."""

import logging
from urllib.parse import quote

import pytest
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import AssetEvent, DagRun, HeldRun, JournalEntry
from partitions_site import roles, tracing
from partitions_site.models import ApiToken
from scheduling import claims, webhooks

pytestmark = pytest.mark.django_db

PATHS = ["../../etc/passwd", "..\\..\\x", "/etc/passwd", "a/../b", "%2e%2e%2f", "file:///x", "a?b#c&d=e", "."]


class TestOthersThings:
    def test_a_token_of_somebody_else_is_not_there(self, api_of, user_of):
        ApiToken.objects.create(user=user_of(roles.ADMIN), expiry=None, name="theirs")
        token = ApiToken.objects.get()
        viewer = api_of(roles.VIEWER)
        assert viewer.get("/auth/tokens").json() == []
        assert viewer.delete(f"/auth/tokens/{token.token_key}").status_code == 404
        assert ApiToken.objects.filter(pk=token.pk).exists()

    def test_a_sign_in_is_no_token_that_could_be_listed(self, anyone, api_of, user_of):
        user_of(roles.VIEWER)
        anyone.post("/auth/token", {"username": "viewer", "password": "viewer-secret"})
        assert api_of(roles.VIEWER).get("/auth/tokens").json() == []

    def test_a_callback_is_for_one_run_and_one_attempt(self, api, anyone, lab):
        for run_id in ("a", "b"):
            api.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": run_id})
        first, second = DagRun.objects.order_by("pk")
        claims.claim(first.pk, worker="w", now=timezone.now())
        claims.claim(second.pk, worker="w", now=timezone.now())
        first.refresh_from_db()
        anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {webhooks.token_of(first)}")
        answer = anyone.post(f"/api/v2/runs/{second.pk}/callback", {"state": "success"})
        assert answer.status_code in (401, 403, 404)
        second.refresh_from_db()
        assert second.state == "running"

    def test_a_run_is_found_under_its_own_dag_only(self, api, lab):
        api.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "x"})
        for deed in ("get", "delete"):
            assert getattr(api, deed)("/api/v2/dags/lab_hourly_sales/dagRuns/x").status_code in (403, 404)
        assert DagRun.objects.filter(run_id="x").exists()

    def test_rights_that_django_gives_are_not_given_by_a_body(self, api_of, user_of):
        viewer = api_of(roles.VIEWER)
        for body in (
            {"name": "x", "user": 1},
            {"name": "x", "kind": "sign_in"},
            {"name": "x", "digest": "0"},
        ):
            assert viewer.post("/auth/tokens", body).status_code == 422
        assert not ApiToken.objects.exists()


class TestPaths:
    """Keys and names are text: nothing opens a file, and none leads to another address."""

    @pytest.mark.parametrize("key", PATHS)
    def test_in_a_key_lead_back_to_it(self, api, lab, key):
        url = f"/api/v2/assets/{lab['plain_asset'].pk}/partitions?partition_key={quote(key, safe='')}"
        api.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk, "partition_key": key})
        assert [row["partition_key"] for row in api.get(url).json()["partitions"]] == [key]

    @pytest.mark.parametrize("path", PATHS)
    @pytest.mark.parametrize(
        "route", ["dags/{}", "dags/{}/details", "pools/{}", "partitionsDefinitions/{}/keys"]
    )
    def test_in_an_address_find_nothing(self, api, lab, route, path):
        answer = api.get(f"/api/v2/{route.format(quote(path, safe=''))}")
        assert answer.status_code in (404, 405)
        assert "root:" not in answer.content.decode()

    @pytest.mark.parametrize(
        "path", ["..%2f..%2fmanage.py", "%2e%2e/%2e%2e/manage.py", "../partitions_site/settings.py"]
    )
    def test_among_static_files_find_nothing(self, client, path):
        assert client.get(f"/static/{path}").status_code == 404


class TestLines:
    FORGED = "k\r\n2026-03-10 09:00:00 INFO root: admin signed in"

    def test_a_key_with_a_line_break_is_refused(self, api, lab):
        body = {"asset_id": lab["plain_asset"].pk, "partition_key": self.FORGED}
        assert api.post("/api/v2/assets/events", body).status_code == 422
        assert not AssetEvent.objects.exists()

    def test_no_address_writes_a_line_into_the_log(self, anyone, caplog):
        caplog.handler.setFormatter(tracing.OneLine("{message}", style="{"))
        with caplog.at_level(logging.WARNING, logger="django.request"):
            anyone.get(f"/api/v2/{quote(self.FORGED)}")
        assert caplog.text.count("\n") == len(caplog.records)

    def test_no_header_of_an_answer_holds_what_a_request_said(self, api, lab):
        answer = api.get("/api/v2/dags", HTTP_X_REQUEST_ID="a\r\nSet-Cookie: x=1")
        assert "Set-Cookie" not in answer.headers
        assert "\n" not in answer.headers["X-Request-ID"]

    def test_the_journal_has_one_entry_whatever_the_reason_says(self, api, lab, settle):
        api.post("/api/v2/assets/events", {"asset_id": lab["regional_orders"].pk, "partition_key": "tw"})
        settle()
        held, before = HeldRun.objects.get(), JournalEntry.objects.count()
        api.post(f"/api/v2/heldRuns/{held.pk}/cancel", {"reason": self.FORGED})
        assert JournalEntry.objects.count() == before + 1
        assert JournalEntry.objects.latest("pk").reason == self.FORGED


class TestOtherSites:
    """A page of another site may send a browser here; it is not told what it may read."""

    @pytest.mark.parametrize("url", ["/api/v2/assets", "/api/v2/version", "/auth/token", "/", "/livez"])
    @pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS"])
    def test_are_let_read_nothing(self, api, lab, url, method):
        asked = {"HTTP_ORIGIN": "https://evil.example", "HTTP_ACCESS_CONTROL_REQUEST_METHOD": "POST"}
        answer = api.generic(method, url, "{}", content_type="application/json", **asked)
        assert [name for name in answer.headers if name.lower().startswith("access-control")] == []


class Counting(PBKDF2PasswordHasher):
    """Counts how often a password is really worked on."""

    iterations = 1
    algorithm = "counting"
    worked = 0

    def encode(self, password, salt, iterations=None):
        Counting.worked += 1
        return super().encode(password, salt, iterations or 1)


class TestTiming:
    def test_whether_a_name_is_known_takes_no_longer_to_say(self, anyone, user_of, settings):
        settings.PASSWORD_HASHERS = [f"{__name__}.Counting"]
        user = user_of(roles.VIEWER)
        user.set_password("right")
        user.save()
        worked = []
        for name in ("viewer", "nobody"):
            Counting.worked = 0
            assert anyone.post("/auth/token", {"username": name, "password": "x"}).status_code == 401
            worked.append(Counting.worked)
        assert worked[0] == worked[1] > 0

    def test_no_token_is_kept_that_could_be_compared_letter_by_letter(self, user_of):
        _, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
        row = ApiToken.objects.get()
        assert token not in (row.digest, row.token_key)
        assert len(row.token_key) <= 25 < len(token)

    def test_a_token_that_differs_in_its_last_letter_is_refused_as_one_that_differs_in_all(self, user_of):
        _, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
        answers = []
        for guess in (token[:-1] + ("0" if token[-1] != "0" else "1"), "pt_" + "0" * 61):
            client = APIClient()
            client.credentials(HTTP_AUTHORIZATION=f"Bearer {guess}")
            answer = client.get("/api/v2/dags")
            answers.append((answer.status_code, answer.json()))
        assert answers[0] == answers[1]
        assert answers[0][0] in (401, 403)
