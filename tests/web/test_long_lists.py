"""Lists of what has long keys end sooner, and go on where they ended."""

import pytest

from core.models import AssetEvent, HeldRun, JournalEntry
from scheduling.algebra import specs
from scheduling.algebra.partitions import StaticPartitions
from tests.engine.world import IDENTITY, NOW, RUNTIME, asset, consumer, dag, emit, turn
from tests.web.reading import read
from tests.web.turning import turned

pytestmark = pytest.mark.django_db

KEYS = [f"{number:03}{chr(0x1F469) * 247}" for number in range(200)]


def test_events(visitor):
    emit("people", *KEYS)
    assert turned(visitor, "/assets/people?tab=events", "Older", KEYS) == KEYS[::-1]
    assert AssetEvent.objects.count() == len(KEYS)


def test_held_runs(visitor):
    consumer("both", {"people": IDENTITY, "places": IDENTITY})
    emit("people", *KEYS)
    turn()
    found = turned(visitor, "/held", "Next page", KEYS)
    assert sorted(found) == KEYS
    assert HeldRun.objects.count() == len(KEYS)


def test_the_journal(visitor):
    entries = [
        JournalEntry(at=NOW, event="noted", by="x", via="web", asset_name="people", partition_key=key)
        for key in KEYS
    ]
    JournalEntry.objects.bulk_create(entries)
    assert turned(visitor, "/journal", "Older", KEYS) == KEYS[::-1]


def test_plans(visitor):
    asset("people", partitions=specs.dump(StaticPartitions(KEYS)))
    dag("load", RUNTIME, writes=["people"])
    assert turned(visitor, "/backfills/new?dag=load&each=yes", "Next", KEYS, "span") == KEYS


def test_short_ones_are_listed_as_ever(visitor):
    emit("hours", *(f"key {number}" for number in range(60)))
    assert len(read(visitor.get("/assets/hours?tab=events")).all("tr")) == 1 + 50
