"""When the keys are expected that a later round lacks: those that never came as in the first round."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun
from scheduling import holds, overdue, wiping
from scheduling.explain import explain
from tests.engine import world
from tests.engine.overdue_day import DAY, HALF, at
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

TICK = "the tick of ingest, and as long as its runs take"


def second(row, moment):
    """The round after `row`, which a person fires as it is; hour 5 comes again at `moment`."""
    holds.fire_now(row, deed=ALICE, at=at(8, 10))
    emit("hourly", *hours(DAY, 5), at=moment)
    turn(moment)
    again = world.held("sum", DAY)
    assert (again.round, again.verdict) == (2, "waiting")
    return again


def times(row, now):
    """When what `row` lacks is expected, by the hour."""
    owed = overdue.owed([row], holds.assess([row], now=now))[row.pk]
    return {each.key[11:13]: each.expected.at for each in owed}


class TestAKeyThatNeverCame:
    def test_is_expected_by_its_tick_and_not_since_the_round_was_opened(self, day):
        row = second(day, at(8, 30))
        assert times(row, at(8, 30)) == {"09": at(9), "22": at(22)}
        assert row.late_at == at(9) + HALF

    def test_is_expected_so_where_it_is_explained(self, day):
        row = second(day, at(8, 30))
        world.finish(world.start(DagRun.objects.get()))
        facts = explain(row.dag, DAY, now=at(8, 30)).facts
        assert [(each.expected.at, each.expected.words) for each in facts] == [(at(9), TICK), (at(22), TICK)]

    def test_is_made_by_nobody_where_its_tick_passed_before_its_dag_began(self, day, ingest):
        ingest.start_date = at(12)
        ingest.save()
        row = second(day, at(8, 30))
        first, last = overdue.owed([row], holds.assess([row], now=at(8, 30)))[row.pk]
        assert (first.is_unmade, first.expected.at) == (True, None)
        assert (last.is_unmade, last.expected.at) == (False, at(22))
        assert row.late_at == at(22) + HALF, "nobody has to make the first"

    def test_is_expected_at_no_time_that_nobody_knows(self):
        consumer("meet", {"a": IDENTITY, "b": IDENTITY}, late_after=60)
        emit("a", "tw", at=at(8))
        turn(at(8))
        holds.fire_now(world.held("meet", "tw"), deed=ALICE, at=at(8))
        emit("a", "tw", at=at(9))
        turn(at(9))
        row = world.held("meet", "tw")
        [owed] = overdue.owed([row], holds.assess([row], now=at(9)))[row.pk]
        assert (row.round, owed.expected.at, row.late_at) == (2, None, None)

    def test_keeps_its_time_among_those_that_must_come_again(self, ingest):
        consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800, late="restart")
        emit("hourly", *hours(DAY, *range(22)), at=at(8))
        turn(at(8))
        row = second(world.held("sum", DAY), at(8, 30))
        found = times(row, at(8, 30))
        assert (found.pop("22"), found.pop("23")) == (at(22), at(23))
        assert set(found.values()) == {at(8, 30)}


class TestAKeyThatWasThereOnce:
    def wiped(self, row, *keys):
        wiping.wipe(world.asset("hourly"), list(keys), deed=ALICE, at=at(8, 40))
        turn(at(8, 40))
        return times(world.held("sum", DAY), at(8, 40))

    def test_is_expected_since_the_round_was_opened_beside_one_that_never_came(self, day):
        row = second(day, at(8, 30))
        assert self.wiped(row, *hours(DAY, 3)) == {"03": at(8, 30), "09": at(9), "22": at(22)}

    def test_is_that_also_by_another_name(self, ingest):
        """Any minute of the hour counts as it."""
        by_member = HOURS_TO_DAY | {"upstream_mapper": {"type": "StartOfHourMapper"}}
        consumer("sum", {"hourly": by_member}, late_after=1800)
        emit("hourly", f"{DAY}T03:37:51", *hours(DAY, *range(4, 22)), at=at(8))
        turn(at(8))
        row = second(world.held("sum", DAY), at(8, 30))
        found = self.wiped(row, f"{DAY}T03:37:51")
        assert (found["00"], found["03"], found["22"]) == (at(0), at(8, 30), at(22))

    def test_asks_once_for_all_rounds_and_never_where_nothing_lacks(self, day):
        row = second(day, at(8, 30))

        def asked(**wanted):
            rows = list(HeldRun.objects.filter(**wanted).select_related("dag"))
            verdicts = holds.assess(rows, now=at(9))
            with CaptureQueriesContext(connection) as found:
                overdue.owed(rows, verdicts)
            return len([each for each in found if "receivedkey" in each["sql"]])

        emit("hourly", "2026-03-11T05:00:00", at=at(8, 40))
        turn(at(8, 40))
        assert asked(state="held") == 1
        assert asked(state="held", round=1) == 0
        emit("hourly", *hours(DAY, 9, 22), at=at(8, 50))
        turn(at(8, 50))
        assert asked(pk=row.pk) == 0
