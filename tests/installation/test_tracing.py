"""Names of requests: on answers, in the log, on what is said when something breaks."""

import logging
import re

import pytest
from django.test import Client

from partitions_site import tracing
from partitions_site.api import health

pytestmark = pytest.mark.django_db

MADE = re.compile(r"[0-9a-f]{16}")


class TestNames:
    def test_every_answer_has_one(self, client):
        for url in ("/api/v2/version", "/sign-in", "/nope", "/api/v2/dags"):
            assert MADE.fullmatch(client.get(url).headers["X-Request-ID"])

    def test_no_two_have_the_same(self, client):
        assert len({client.get("/livez").headers["X-Request-ID"] for _ in range(5)}) == 5

    def test_one_that_a_proxy_gave_stays(self, client):
        answer = client.get("/livez", HTTP_X_REQUEST_ID="proxy-1.a_B")
        assert answer.headers["X-Request-ID"] == "proxy-1.a_B"

    @pytest.mark.parametrize("given", ["", "a b", "a\nb", "<script>", "a" * 65, "é"])
    def test_one_that_is_none_is_replaced(self, client, given):
        assert MADE.fullmatch(client.get("/livez", HTTP_X_REQUEST_ID=given).headers["X-Request-ID"])


class TestFailures:
    @pytest.fixture
    def broken(self, monkeypatch):
        def boom(*_, **__):
            raise RuntimeError("secret of the inside")

        monkeypatch.setattr(health.Version, "get", boom)
        return Client(raise_request_exception=False)

    def test_programs_get_json_that_names_the_request_and_no_more(self, broken):
        answer = broken.get("/api/v2/version", HTTP_X_REQUEST_ID="r-1")
        assert answer.status_code == 500
        assert answer.json() == {"detail": "Internal Server Error", "request_id": "r-1"}
        assert answer.headers["X-Request-ID"] == "r-1"

    def test_people_get_a_page(self, monkeypatch, admin_client):
        from partitions_site.web import health as page

        monkeypatch.setattr(page, "answer", None)
        admin_client.raise_request_exception = False
        answer = admin_client.get("/health", HTTP_X_REQUEST_ID="r-2")
        assert answer.status_code == 500
        assert b"<code>r-2</code>" in answer.content
        assert b"Traceback" not in answer.content


class TestLines:
    def line(self, message, *arguments):
        record = logging.LogRecord("a", logging.INFO, "f.py", 1, message, arguments, None)
        return tracing.OneLine("{request_id} {message}", style="{").format(record)

    def test_have_the_name_of_the_request(self, client):
        client.get("/livez", HTTP_X_REQUEST_ID="r-3")
        assert self.line("hello") == "r-3 hello"

    def test_a_message_is_one_line_whatever_somebody_wrote_into_it(self):
        forged = "k\n2026-03-10 09:00:00 INFO root: admin signed in\x1b[2J"
        found = self.line("key %s was refused", forged)
        assert "\n" not in found
        assert "\x1b" not in found
        assert "k\\n2026-03-10" in found

    @pytest.mark.parametrize(("status", "traced"), [(400, False), (403, False), (500, True)])
    def test_a_request_that_was_refused_leaves_no_traceback(self, status, traced):
        record = logging.makeLogRecord(
            {"msg": "no", "status_code": status, "exc_info": (OSError, OSError(), None)}
        )
        assert tracing.WithoutTrace().filter(record)
        assert ("OSError" in tracing.OneLine("{message}", style="{").format(record)) == traced

    def test_keeps_every_script(self):
        assert self.line("東京 é").endswith("東京 é")
