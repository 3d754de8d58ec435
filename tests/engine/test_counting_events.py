"""Counts of events and of entries of the journal: what PostgreSQL keeps, against a count of all rows."""

import pytest
from django.db.models import Q

from core import counting
from core.models import AssetEvent, JournalEntry
from scheduling import journal, retention
from tests.engine.counted import HOUR, SPREAD, ranges, right
from tests.engine.pruning import LATER, YEAR
from tests.engine.world import NOW, asset, emit

pytestmark = [pytest.mark.pg, pytest.mark.django_db, pytest.mark.usefixtures("always_folds")]


def test_events():
    for name in ("a", "b"):
        emit(name, "x", "y", None)
    rows = AssetEvent.objects
    rows.bulk_create(
        AssetEvent(pk=(2 + each) * SPREAD, asset=asset("a"), source="api", timestamp=NOW + each * HOUR)
        for each in range(20)
    )
    rows.filter(partition_key="y").delete()
    counting.fold()
    some = [Q(), Q(asset_id=asset("b").pk), Q(asset__name__icontains="A"), *ranges("timestamp")]
    assert all(right(rows.filter(each)) for each in some)
    assert all(right(rows.filter(each, asset__name="a")) for each in some)
    assert counting.known(rows.all()) == 24


def test_entries_of_the_journal():
    for each in range(20):
        about = {"dag_id": "a"} if each % 3 else {}
        JournalEntry.objects.create(
            pk=(each + 1) * SPREAD, at=NOW + each * HOUR, by="x", event=f"e{each % 2}", **about
        )
    counting.fold()
    some = [Q(), Q(dag_id="a"), Q(event__in=["e1"]), ~Q(event__in=["e1"]), *ranges("at")]
    assert all(right(JournalEntry.objects.filter(each)) for each in some)
    assert all(right(JournalEntry.objects.filter(each, dag_id="a")) for each in some)


def test_what_is_pruned_is_counted_no_more():
    emit("a", "x", "x", "x", "y")
    AssetEvent.objects.update(routed_at=NOW)
    journal.note("something", at=NOW)
    gone = retention.prune(YEAR, now=LATER)
    assert gone["events"] == 2
    assert gone["journal entries"]
    assert right(AssetEvent.objects.all())
    assert right(JournalEntry.objects.all())
    assert counting.known(AssetEvent.objects.all()) == 2
