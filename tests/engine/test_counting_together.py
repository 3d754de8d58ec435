"""Counts of the long lists, while several write and others add up what they wrote."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from django.db import connection, transaction

from core import counting
from core.models import AssetEvent, EntryCount, EventCount, JournalEntry
from tests.engine.counted import right
from tests.engine.meeting import apart
from tests.engine.world import asset, emit

pytestmark = [
    pytest.mark.pg,
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("always_folds"),
]


def write(seed):
    chance = random.Random(seed)
    for each in range(40):
        with transaction.atomic():
            emit("a", *(f"{seed}-{each}-{number}" for number in range(3)))
            if chance.random() < 0.5:
                AssetEvent.objects.filter(partition_key__startswith=f"{seed}-{each - 1}-1").delete()


def fold_until(done):
    while not done.is_set():
        counting.fold()


def look_until(done):
    """How many different numbers of events there were; each was what the counts told at that moment."""
    seen = set()
    while not done.is_set():
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            assert right(AssetEvent.objects.all())
            assert right(JournalEntry.objects.all())
            seen.add(AssetEvent.objects.count())
    return len(seen)


class TestAtTheSameTime:
    def test_each_moment_has_its_own_count(self):
        """Whatever a transaction sees of the rows, it sees of their counts."""
        asset("a")
        done = threading.Event()
        with ThreadPoolExecutor(6) as threads:
            looking, *_ = (
                threads.submit(apart, partial(act, done)) for act in (look_until, fold_until, fold_until)
            )
            writing = [threads.submit(apart, partial(write, seed)) for seed in range(3)]
            try:
                for each in writing:
                    each.result(60)
            finally:
                done.set()
            assert looking.result(60) > 5
        counting.fold()
        assert right(AssetEvent.objects.all())
        blocks = list(EventCount.objects.values_list("block", flat=True))
        assert 1 <= len(blocks) == len(set(blocks)), "one row is left of each"
        assert EntryCount.objects.filter(is_change=True).count() == 0

    def test_who_folds_waits_for_nobody(self):
        emit("a", "x")
        with transaction.atomic():
            counting._fold(EventCount, ("asset",))
            with ThreadPoolExecutor(1) as threads:
                threads.submit(apart, counting.fold).result(10)
            assert right(AssetEvent.objects.all())
