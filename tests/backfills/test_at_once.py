"""Backfills that are started, taken up again or advanced at the same time never run a key twice at once."""

import pytest

from core.models import DagRun
from scheduling import backfills, holds
from scheduling.backfills import NothingToBackfill
from tests.backfills.play import SECOND, begin, daily, days, drive, listener, producer, states, steer
from tests.engine.meeting import meet
from tests.engine.world import NOW, emit, fired

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

KEYS = tuple(days(1, 3))


@pytest.fixture
def load():
    return producer("load")


@pytest.fixture
def copy(load):
    daily("copies")
    return listener("copy", "days", "copies")


def refused(*dags, **options):
    """What somebody is told who asks for the same."""

    def ask():
        with pytest.raises(NothingToBackfill) as refusal:
            begin(*dags, keys=KEYS, **options)
        return str(refusal.value)

    return ask


class TestStarting:
    def test_the_same_twice(self, load):
        [said] = meet(lambda: begin(load, keys=KEYS), refused(load))
        assert "in progress" in said

    def test_what_another_one_makes_first(self, load, copy):
        """That one names only the consumer; the producer of what it lacks comes into it by itself."""
        [said] = meet(lambda: begin(copy, keys=KEYS, with_upstream=True), refused(load))
        assert "in progress" in said

    def test_what_follows_another_one(self, load, copy):
        drive(begin(load, keys=KEYS, with_downstream=True))
        again = {"reprocess": backfills.Reprocess.COMPLETED}
        [said] = meet(lambda: begin(load, keys=KEYS, with_downstream=True, **again), refused(copy, **again))
        assert "in progress" in said


def test_two_that_have_the_same_keys_ahead_run_them_once(load):
    """The first was cancelled and is taken up again when somebody else has asked for its keys."""
    first = begin(load, keys=KEYS)
    steer(backfills.cancel, first)
    second = begin(load, keys=KEYS, at=NOW + SECOND)
    steer(backfills.resume, first)
    meet(lambda: backfills.advance(now=NOW), lambda: backfills.advance(now=NOW + SECOND))
    assert sorted(DagRun.objects.values_list("partition_key", flat=True)) == [*KEYS]
    for each in (first, second):
        drive(each, at=NOW + 2 * SECOND)
        assert set(states(each).values()) == {"done"}
    assert DagRun.objects.count() == len(KEYS)


class TestTheEngineBeside:
    """It counts an event at the moment at which a backfill comes to the key: both would start a run of it."""

    @pytest.fixture
    def backfill(self, copy):
        emit("days", KEYS[0])
        return begin(copy, keys=KEYS[:1])

    @pytest.mark.parametrize("is_first", [True, False])
    def test_runs_the_key_once(self, backfill, is_first):
        acts = [lambda: holds.route_pending(now=NOW), lambda: backfills.advance(now=NOW)]
        meet(*acts if is_first else reversed(acts))
        assert fired("copy") == [KEYS[0]]
        drive(backfill, at=NOW + SECOND)
        assert fired("copy") == [KEYS[0]]
        assert states(backfill) == {("copy", KEYS[0]): "done"}
