"""Partitions that have failed before it was kept how often say how the attempt before ended."""

import pytest
from django.core.management import call_command

from core.models import FailedAttempt, Partition
from tests.engine.attempting import state
from tests.engine.world import part

pytestmark = pytest.mark.django_db(transaction=True)


def migrate(*to):
    call_command("migrate", "core", *to, verbosity=0)


@pytest.fixture
def from_before():
    """The database as it was before failed attempts were kept, then as it is."""

    def there_and_back():
        migrate("0030")
        migrate()

    yield there_and_back
    migrate()


def kept():
    return list(FailedAttempt.objects.order_by("begun_at").values_list("run", flat=True))


def test_what_failed_since_it_went_well_is_shown_again(attempts, from_before):
    attempts.failed()
    came, first, second = attempts.ok(), attempts.failed(), attempts.failed()
    before = Partition.objects.values_list("success_at", "state", "attempt_run").get()
    from_before()
    assert kept()[-2:] == [first.pk, second.pk]
    assert Partition.objects.values_list("success_at", "state", "attempt_run").get() == before
    assert before[0] == came.started_at
    attempts.deleted(second)
    assert part("out", "k").attempt_run == first
    attempts.deleted(first)
    assert state() == (True, "success")


def test_what_went_well_keeps_nothing(attempts, from_before):
    attempts.failed()
    attempts.emitted()
    from_before()
    assert kept() == []
    assert state() == (True, "success")


def test_done_twice_it_keeps_each_once(attempts, from_before):
    run = attempts.failed()
    migrate("0031")
    migrate()
    assert kept() == [run.pk]
