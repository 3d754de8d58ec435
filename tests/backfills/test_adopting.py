"""A key whose held run fires by itself while its backfill waits for it has run: it does not run again.

Clocks do not agree: who counts an event has read the time before its turn to write came, and the run that
wrote the event may have ended after that.
"""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun, HeldRun
from scheduling import backfills, holds, wiping
from scheduling.backfills import Reprocess
from tests.backfills.play import SECOND, begin, counts, drive, execute, item
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, fired, hours

pytestmark = pytest.mark.django_db

DAY = "2026-03-10"
BEFORE = NOW - SECOND


def count_all(at=BEFORE):
    while holds.route_pending(now=at) or holds.judge_due(now=at):
        pass


def day_run():
    return DagRun.objects.get(dag__dag_id="day")


def begun(*, missing=(22, 23), **options):
    """A backfill of a day and of the hours that it lacks, of which all but the last are there."""
    emit("hours", *hours(DAY, *(hour for hour in range(24) if hour not in missing)))
    count_all()
    day = Dag.objects.get(dag_id="day")
    backfill = begin(day, keys=(DAY,), with_upstream=True, **options)
    backfills.advance(now=NOW)
    return backfill


class TestAHeldRunThatFiresWithTheLastHour:
    def fired_before_the_hour_ended(self, **options):
        """The held run fires when the last hours are counted: by its clock before they had ended."""
        backfill = begun(**options)
        execute(NOW)
        count_all(BEFORE)
        assert day_run().queued_at < NOW
        return backfill

    def check(self, backfill):
        drive(backfill, at=NOW + SECOND)
        assert item(backfill, DAY, "day").run == day_run()
        assert counts(backfill) == {"planned": 3, "done": 3}
        assert not HeldRun.objects.held().exists()

    def test_is_the_run_of_its_key_while_it_is_queued(self, hour):
        backfill = self.fired_before_the_hour_ended()
        backfills.advance(now=NOW)
        assert item(backfill, DAY, "day").run == day_run()
        self.check(backfill)

    def test_is_it_when_it_has_ended_before_the_backfill_looks(self, hour):
        backfill = self.fired_before_the_hour_ended()
        execute(BEFORE)
        assert day_run().state == "success"
        self.check(backfill)

    def test_is_it_also_when_all_is_to_be_made_anew(self, hour):
        """What it read is what this backfill has made: that is as fresh as can be."""
        self.check(self.fired_before_the_hour_ended(reprocess=Reprocess.COMPLETED))

    def test_fails_the_key_with_it(self, hour):
        backfill = self.fired_before_the_hour_ended()
        backfills.advance(now=NOW)
        execute(NOW, fail=[DAY])
        backfills.advance(now=NOW)
        assert counts(backfill) == {"planned": 3, "done": 2, "failed": 1}
        assert day_run().state == "failed"


def test_a_run_that_did_not_wait_for_the_last_hour_is_not_the_one_that_was_asked_for(hour):
    """It fired by its clock after that hour had ended, and had not read it."""
    Dag.objects.filter(dag_id="day").delete()
    lenient = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -1}}
    consumer("day", {"hours": lenient}, writes=["daily"])
    backfill = begun()
    execute(NOW, most=1)
    count_all(NOW + 2 * SECOND)
    early = day_run()
    execute(NOW + SECOND)
    drive(backfill, at=NOW + 3 * SECOND)
    own = item(backfill, DAY, "day").run
    assert own != early
    assert own.run_type == "backfill"
    count_all(NOW + timedelta(hours=1))
    assert fired("day") == [DAY, DAY]
    assert not HeldRun.objects.held().exists()


class TestAKeyThatWaitedForNothing:
    """When its turn comes, its held run may have fired by itself, and the run have ended."""

    KEYS = ("2026-03-09", DAY)

    @pytest.fixture
    def begun(self, hour):
        """A backfill of two days that takes one after the other; the hours of the second come again."""

        def begin_and_fire(**options):
            for key in self.KEYS:
                emit("hours", *hours(key, *range(24)), at=BEFORE)
            day = Dag.objects.get(dag_id="day")
            anew = {"reprocess": Reprocess.COMPLETED, "is_chained": True} | options
            backfill = begin(day, keys=self.KEYS, **anew)
            backfills.advance(now=NOW)
            emit("hours", *hours(DAY, *range(24)))
            count_all(NOW + SECOND)
            [meanwhile] = execute(NOW + SECOND, most=2)[1:]
            assert (meanwhile.partition_key, meanwhile.run_type) == (DAY, "asset_triggered")
            return backfill, meanwhile

        return begin_and_fire

    def test_is_done_by_that(self, begun):
        backfill, meanwhile = begun()
        drive(backfill, at=NOW + 2 * SECOND)
        assert item(backfill, DAY).run == meanwhile
        assert fired("day") == [*self.KEYS]
        assert counts(backfill) == {"planned": 2, "done": 2}
        assert not HeldRun.objects.held().exists()

    def test_is_not_if_that_was_wiped_since(self, begun):
        backfill, _ = begun()
        wiping.wipe(asset("days"), [DAY], deed=ALICE, at=NOW + SECOND)
        drive(backfill, at=NOW + 2 * SECOND)
        assert fired("day") == [*self.KEYS, DAY]

    def test_is_not_if_it_is_to_run_with_a_conf_of_its_own(self, begun):
        backfill, _ = begun(conf={"model": "new"})
        drive(backfill, at=NOW + 2 * SECOND)
        assert fired("day") == [*self.KEYS, DAY]

    def test_is_not_if_that_ran_before_somebody_asked_for_the_backfill(self, begun):
        backfill, meanwhile = begun()
        DagRun.objects.filter(pk=meanwhile.pk).update(queued_at=BEFORE)
        drive(backfill, at=NOW + 2 * SECOND)
        assert fired("day") == [*self.KEYS, DAY]
