"""Every address while the database is away: it answers, says when to ask again, and its description knows."""

import psycopg
import pytest
from django.db import OperationalError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.test import Client

from tests.api.paper import operations

OPERATIONS = operations()
NEED_NO_DATABASE = {
    ("get", "/api/v2/version"): 200,
    ("get", "/api/v2/monitor/health"): 200,
    ("get", "/api/v2/auth/login"): 307,
    ("get", "/auth/token"): 403,
    ("get", "/livez"): 200,
    ("get", "/readyz"): 503,  # in words of its own
}


@pytest.fixture
def away(monkeypatch):
    def refuse(*_):
        raise OperationalError("connection refused") from psycopg.OperationalError("connection refused")

    monkeypatch.setattr(BaseDatabaseWrapper, "ensure_connection", refuse)
    return Client(raise_request_exception=False)


def filled(path):
    for parameter in path.split("{")[1:]:
        path = path.replace("{" + parameter.partition("}")[0] + "}", "1")
    return path


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each[1]} {each[0]}")
def test_each_says_when_to_ask_again_and_is_described_so(away, operation):
    path, method, described = operation
    body = '{"username": "a", "password": "b"}'
    asked = {"content_type": "application/json", "HTTP_AUTHORIZATION": "Bearer pt_0123456789"}
    answer = away.generic(method.upper(), filled(path), body, **asked)
    assert str(answer.status_code) in described["responses"]
    if (expected := NEED_NO_DATABASE.get((method, path))) is not None:
        assert answer.status_code == expected
        return
    assert (answer.status_code, answer.headers["Content-Type"]) == (503, "application/json")
    assert int(answer.headers["Retry-After"]) > 0
    assert set(answer.json()) == {"detail", "request_id"}
    assert answer.json()["request_id"] == answer.headers["X-Request-ID"]


@pytest.mark.parametrize("code", ["429", "503"])
def test_the_header_is_described_wherever_the_refusal_is(code):
    told = [each["responses"][code] for path, _, each in OPERATIONS if code in each["responses"]]
    assert len(told) > 90
    assert all("Retry-After" in each["headers"] for each in told)
