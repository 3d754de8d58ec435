"""What is truncated is counted no more."""

from functools import partial

import pytest
from django.db import connection

from core import counting
from core.models import AssetEvent, DagRun, JournalEntry
from scheduling import journal, runs
from scheduling.runs import Ask
from tests.engine.meeting import meet
from tests.engine.world import ALICE, NOW, RUNTIME, dag, emit

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def truncate(listed):
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {listed._meta.db_table} CASCADE")


@pytest.mark.parametrize("listed", [AssetEvent, DagRun, JournalEntry])
def test_what_is_truncated_is_counted_no_more(listed):
    emit("a", "x", "y")
    runs.trigger(dag("b", RUNTIME), Ask("x"), deed=ALICE, at=NOW)
    journal.note("something", at=NOW)
    everything = [AssetEvent.objects, DagRun.objects, JournalEntry.objects]
    assert all(counting.known(rows.all()) for rows in everything)
    truncate(listed)
    assert counting.known(listed.objects.all()) == 0
    assert [counting.known(rows.all()) for rows in everything] == [rows.count() for rows in everything]
    assert any(rows.count() for rows in everything)


def test_nor_is_what_is_being_added_up(always_folds):
    emit("a", "x", "y")
    meet(counting.fold, partial(truncate, AssetEvent))
    assert counting.known(AssetEvent.objects.all()) == 0
