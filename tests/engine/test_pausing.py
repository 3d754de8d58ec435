"""Time spent paused is not made up, unless whoever unpauses asks for it."""

from datetime import UTC, datetime, timedelta

import pytest

from core.models import DagRun, JournalEntry
from scheduling import configuration, ticks
from tests.engine import world
from tests.engine.world import ALICE, NOW, fired, turn

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)
HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
LATER = NOW + 5 * HOUR
NEXT = LATER + timedelta(minutes=50)


def keys(first, last):
    return [f"2026-03-11T{hour:02}:00:00" for hour in range(first, last + 1)]


@pytest.fixture(params=["all", "last", "none"])
def paused(request, db):
    """A Dag that has ticked, and was paused for five hours after that."""
    made = world.dag("ingest", HOURLY, catchup=request.param, start_date=NOW - timedelta(minutes=10))
    turn(NOW)
    assert fired("ingest") == ([] if request.param == "none" else keys(9, 9))[: len(fired("ingest"))]
    DagRun.objects.all().delete()
    configuration.set_paused(made, True, deed=ALICE, at=NOW)
    turn(NOW + 3 * HOUR)
    made.refresh_from_db()
    return made


class TestUnpausing:
    def test_passes_over_what_was_missed(self, paused):
        configuration.set_paused(paused, False, deed=ALICE, at=LATER)
        turn(LATER)
        turn(NEXT)
        assert fired("ingest") == keys(15, 15)

    def test_makes_it_up_where_somebody_asks_for_it(self, paused):
        configuration.set_paused(paused, False, deed=ALICE, at=LATER, make_up=True)
        turn(LATER)
        assert fired("ingest") == keys(10, 14)
        turn(NEXT)
        turn(NEXT)
        assert fired("ingest") == keys(10, 15)

    def test_what_is_missed_afterwards_is_for_the_catchup_again(self, paused):
        configuration.set_paused(paused, False, deed=ALICE, at=LATER, make_up=True)
        turn(LATER + 3 * HOUR)
        rest = {"all": keys(15, 17), "last": keys(17, 17), "none": []}[paused.catchup]
        assert fired("ingest") == keys(10, 14) + rest

    @pytest.mark.parametrize(("make_up", "name"), [(True, "ticks_made_up"), (False, "ticks_passed_over")])
    def test_the_journal_says_how_many(self, paused, make_up, name):
        configuration.set_paused(paused, False, deed=ALICE, at=LATER, make_up=make_up)
        entry = JournalEntry.objects.get(event="dag unpaused")
        assert (entry.by, entry.extra) == ("alice", {name: 5})

    def test_nothing_is_said_where_nothing_was_missed(self, paused):
        configuration.set_paused(paused, False, deed=ALICE, at=NOW + timedelta(minutes=1), make_up=True)
        assert JournalEntry.objects.get(event="dag unpaused").extra == {}

    def test_pausing_makes_up_nothing(self, paused):
        configuration.set_paused(paused, False, deed=ALICE, at=NOW)
        configuration.set_paused(paused, True, deed=ALICE, at=NOW, make_up=True)
        configuration.set_paused(paused, False, deed=ALICE, at=LATER)
        turn(LATER)
        assert fired("ingest") == []


class TestMissed:
    def missed(self, dag, at=LATER):
        dag.refresh_from_db()
        return ticks.missed(dag, now=at)

    def test_counts_the_ticks_since_the_pause(self, paused):
        found = self.missed(paused)
        assert (found.count, found.first.partition_key, found.last.partition_key, found.is_more) == (
            5,
            *keys(10, 10),
            *keys(14, 14),
            False,
        )

    def test_ends_with_the_dag(self, paused):
        paused.end_date = NOW + 2 * HOUR
        paused.save()
        assert self.missed(paused).count == 2

    def test_stops_counting_somewhere(self, paused):
        found = self.missed(paused, NOW + 11_000 * HOUR)
        assert (found.count, found.is_more) == (ticks.MOST_COUNTED, True)

    def test_one_that_was_paused_before_it_began_has_missed_nothing(self):
        began = datetime(2026, 1, 1, tzinfo=UTC)
        assert self.missed(world.dag("new", HOURLY, start_date=began, is_paused=True)).count == 0

    def test_one_without_a_start_has_missed_what_came_since_it_was_seen(self):
        assert self.missed(world.dag("new", HOURLY, is_paused=True)).count == 5

    @pytest.mark.parametrize("schedule", [None, {"type": "PartitionedAtRuntime"}, {"type": "Nonsense"}])
    def test_one_without_ticks_misses_none(self, schedule):
        assert self.missed(world.dag("odd", schedule)).count == 0
