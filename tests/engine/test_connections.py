"""A connection that is kept is used again only as long as it is one."""

import psycopg
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import prepared
from core.models import Pool

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def a_request():
    """What Django does with a connection between two requests, and a query of the second."""
    connection.close_if_unusable_or_obsolete()
    return Pool.objects.count()


@pytest.fixture(autouse=True)
def kept(settings):
    connection.ensure_connection()
    before = connection.settings_dict["CONN_HEALTH_CHECKS"]
    connection.settings_dict["CONN_HEALTH_CHECKS"] = connection.health_check_enabled = True
    connection.close_at = None
    yield
    connection.settings_dict["CONN_HEALTH_CHECKS"] = before


def backend():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return cursor.fetchone()[0]


def end(pid):
    name = connection.settings_dict
    with psycopg.connect(
        host=name["HOST"], port=name["PORT"] or None, user=name["USER"], dbname=name["NAME"], autocommit=True
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s, 2000)", [pid])


def test_one_that_is_alive_is_used_without_a_question():
    first = backend()
    with CaptureQueriesContext(connection) as queries:
        a_request()
    assert [each["sql"][:12] for each in queries] == ["SELECT COUNT"]
    assert backend() == first


def test_one_that_the_server_has_ended_is_replaced():
    first = backend()
    end(first)
    assert a_request() == 0
    assert backend() != first


def test_one_that_the_server_has_ended_is_replaced_before_a_prepared_statement():
    first = backend()
    end(first)
    connection.close_if_unusable_or_obsolete()
    with prepared.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        assert cursor.fetchone() != (first,)


def test_one_that_was_closed_here_is_none():
    connection.connection.close()
    assert not connection.is_usable()
    connection.close()
