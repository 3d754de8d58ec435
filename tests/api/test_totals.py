"""Totals of lists: exact, and not counted anew for every page of what takes long to count."""

import pytest
from django.db import connection
from django.db.models.functions import Length
from django.test.utils import CaptureQueriesContext

from core.models import AssetEvent
from partitions_site.api import pages, totals
from tests.engine.world import asset, emit

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    """Four rows are many; time passes as the test says."""
    moment = [0.0]
    monkeypatch.setattr(totals, "LARGE", 3)
    monkeypatch.setattr(totals, "monotonic", lambda: moment[0])
    totals._kept.clear()
    yield moment
    totals._kept.clear()


def count(**narrowed):
    """How many events there are by what PostgreSQL keeps no counts of."""
    return totals.count(AssetEvent.objects.filter(source="api", **narrowed))


def test_what_is_added_counts_at_once():
    emit("daily", "a", "b", "c", "d")
    assert count() == 4
    emit("daily", "e", "f")
    assert count() == 6


def test_what_is_taken_away_does_so_seconds_later(clock):
    emit("daily", "a", "b", "c", "d", "e")
    assert count() == 5
    AssetEvent.objects.filter(partition_key="b").delete()
    assert count() == 5
    clock[0] += totals.KEPT_SECONDS
    assert count() == 4


def test_a_few_are_always_counted():
    emit("daily", "a", "b", "c")
    assert count() == 3
    AssetEvent.objects.filter(partition_key="b").delete()
    assert count() == 2


def test_each_list_has_its_own():
    emit("daily", "a", "b", "c", "d")
    emit("hourly", "a", "b", "c", "d", "e")
    assert (count(), count(asset=asset("daily")), count(asset=asset("hourly"))) == (9, 4, 5)
    assert (count(), count(asset=asset("daily")), count(asset=asset("hourly"))) == (9, 4, 5)


def test_nothing_is_nothing():
    assert count() == count(partition_key="x") == count(pk__in=[]) == 0


def test_many_are_read_once():
    emit("daily", *"abcdefgh")
    count()
    with CaptureQueriesContext(connection) as queries:
        count()
    assert f'"id" > {AssetEvent.objects.latest("pk").pk}' in queries[0]["sql"]


def test_a_count_that_stops_works_out_nothing_else():
    emit("daily", "a", "b")
    with CaptureQueriesContext(connection) as queries:
        some = AssetEvent.objects.filter(source="api").annotate(length=Length("partition_key"))
        assert pages._count_up_to_limit(some) == 2
    assert "LENGTH" not in queries[0]["sql"]


@pytest.mark.pg
def test_what_is_counted_as_it_comes_is_never_kept():
    emit("daily", "a", "b", "c", "d", "e")
    assert totals.count(AssetEvent.objects.all()) == 5
    AssetEvent.objects.filter(partition_key="b").delete()
    assert totals.count(AssetEvent.objects.all()) == 4
    assert not totals._kept


@pytest.mark.pg
def test_a_cursor_reads_no_rows_to_count_them():
    emit("daily", "a", "b")
    with CaptureQueriesContext(connection) as queries:
        assert pages._count_up_to_limit(AssetEvent.objects.all()) == 2
    assert all("core_assetevent" not in each["sql"] for each in queries)
