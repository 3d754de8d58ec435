"""Two administrators save in the same moment, which only PostgreSQL lets happen."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from core.models import Dag, JournalEntry
from scheduling import configuration
from scheduling.journal import Deed
from tests.engine.world import HOURS_TO_DAY, NOW, consumer, emit, turn

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]


def test_one_is_saved_and_the_other_is_told_by_whom():
    row = consumer("c", {"a": HOURS_TO_DAY})
    emit("a", "2026-03-10T09:00:00")
    turn()
    both = threading.Barrier(2, timeout=20)

    def save(by, late):
        seen = Dag.objects.get(pk=row.pk)
        both.wait()
        try:
            configuration.change_schedule(
                seen,
                seen.schedule | {"late": late},
                deed=Deed(by=by, via="web", reason="mine"),
                at=NOW,
                revision=seen.revision,
            )
            return by
        except configuration.StaleSchedule as refusal:
            return str(refusal)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        answers = [
            each.result(30)
            for each in [threads.submit(save, "amy", "hold"), threads.submit(save, "bob", "restart")]
        ]
    [saved] = [each for each in answers if each in ("amy", "bob")]
    [refused] = [each for each in answers if each not in ("amy", "bob")]
    assert f"{saved} changed late: not set" in refused
    assert Dag.objects.get(pk=row.pk).override.by == saved
    assert JournalEntry.objects.filter(event="schedule changed").count() == 1
