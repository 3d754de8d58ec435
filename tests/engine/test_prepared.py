"""Statements that PostgreSQL plans once: they mean what they meant before."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core import bulk, prepared
from core.models import DynamicKey, JournalEntry
from scheduling import journal
from tests.engine.world import NOW, asset

pytestmark = pytest.mark.django_db


def ask(value, times=1):
    for _ in range(times):
        with prepared.cursor() as cursor:
            cursor.execute("SELECT name FROM core_asset WHERE name = %s", [value])
            found = cursor.fetchall()
    return found


def kept():
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%%core_asset%%'")
        return cursor.fetchall()


def test_every_time_it_answers_for_the_value_given():
    asset("a"), asset("%s")
    for _ in range(10):
        assert ask("a") == [("a",)]
        assert ask("%s") == [("%s",)]
        assert ask("a' OR '1'='1") == []


def test_it_is_counted_like_any_other_statement():
    with CaptureQueriesContext(connection) as queries:
        ask("a", times=3)
    assert len(queries) == 3


def test_what_has_no_value_has_none_each_time():
    """Whatever types the values of the first times had."""
    keys = [("n", f"k{number}", NOW, "a", NOW if number % 2 else None, "") for number in range(20)]
    for row in keys:
        bulk.insert(DynamicKey, ("name", "key", "added_at", "added_by", "removed_at", "removed_by"), [row])
    found = DynamicKey.objects.order_by("id").values_list("key", "removed_at")
    assert list(found) == [(row[1], row[4]) for row in keys]


@pytest.mark.parametrize("size", [1, 40_000, 3_000_000_000])
def test_numbers_of_any_size_and_any_text_are_kept(size):
    for number in range(8):
        journal.note("tested", at=NOW, about=asset("a"), key=f"\u6771\u4eac {number}", size=size + number)
    found = JournalEntry.objects.order_by("id").values_list("partition_key", "extra")
    assert list(found) == [(f"\u6771\u4eac {number}", {"size": size + number}) for number in range(8)]


@pytest.mark.pg
def test_it_is_kept_once_it_has_come_often():
    ask("a", times=connection.settings_dict["OPTIONS"]["prepare_threshold"])
    assert kept() == []
    ask("b", times=3)
    assert len(kept()) == 1


@pytest.mark.pg
def test_it_is_never_kept_where_connections_are_shared(monkeypatch):
    connection.ensure_connection()
    monkeypatch.setattr(connection.connection, "prepare_threshold", None)
    ask("a", times=20)
    assert kept() == []
