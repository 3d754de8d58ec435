"""What is answered while the database is away: try again, not that something is broken."""

import sqlite3

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client
from psycopg import errors

from partitions_site.api import health
from partitions_site.failures import is_database_away


def caused(kind, cause):
    error = kind("no")
    error.__cause__ = cause
    return error


LOST = [
    caused(OperationalError, errors.AdminShutdown()),
    caused(OperationalError, errors.CrashShutdown()),
    caused(OperationalError, errors.CannotConnectNow()),
    caused(OperationalError, errors.ConnectionFailure()),
    caused(OperationalError, psycopg.OperationalError("the connection is closed")),
    InterfaceError("connection already closed"),
]
BROKEN = [
    caused(OperationalError, errors.DeadlockDetected()),
    caused(OperationalError, errors.QueryCanceled()),
    caused(OperationalError, sqlite3.OperationalError("database is locked")),
    RuntimeError("no"),
    None,
]


class TestAway:
    @pytest.mark.parametrize("error", LOST, ids=repr)
    def test_is_a_connection_that_was_lost(self, error):
        assert is_database_away(error)

    @pytest.mark.parametrize("error", BROKEN, ids=repr)
    def test_is_nothing_else(self, error):
        assert not is_database_away(error)


class TestAnswer:
    def test_tells_programs_to_try_again(self, monkeypatch):
        def lose(*_, **__):
            raise LOST[0]

        monkeypatch.setattr(health.Version, "get", lose)
        client = Client(raise_request_exception=False)
        answer = client.get("/api/v2/version", HTTP_X_REQUEST_ID="r-1")
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
        assert answer.json() == {"detail": "The database cannot be reached: try again", "request_id": "r-1"}

    @pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite is never away")
    @pytest.mark.django_db(transaction=True)
    @pytest.mark.parametrize(
        ("method", "url", "said"),
        [
            ("get", "/", b"<h1>The database is away</h1>"),
            ("post", "/auth/token", b'"detail": "The database cannot be reached: try again"'),
        ],
    )
    def test_comes_once_when_the_server_has_ended_the_connection(self, hung_up, method, url, said):
        ask, body = getattr(hung_up, method), {"username": "admin", "password": "wrong"}
        answer = ask(url, body, content_type="application/json")
        assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "2")
        assert said in answer.content
        connection.close_if_unusable_or_obsolete()
        assert ask(url, body, content_type="application/json").status_code in (200, 401)

    @pytest.fixture
    def hung_up(self, admin_client):
        """Whoever asks next finds out that the server has ended the connection."""
        admin_client.raise_request_exception = False
        connection.ensure_connection()
        other = connection.copy()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s)", [connection.connection.info.backend_pid])
        other.close()
        yield admin_client
        connection.close()
