"""Why has this partition not run, of a Dag that listens? One world for each answer."""

from datetime import UTC, datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun
from scheduling import claims, holds
from scheduling.explain import KeyNeeded, Standing
from tests.engine import world
from tests.engine.asking import trigger, why
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    consumer,
    emit,
    hours,
    turn,
)

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"
HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
BERLIN = HOURS_TO_DAY | {"upstream_mapper": {"type": "StartOfDayMapper", "timezone": "Europe/Berlin"}}
AT_LEAST_24 = {"wait_policy": {"type": "MinimumCount", "n": 24}}


def named(explanation):
    return [(fact.leaf.words(), fact.key) for fact in explanation.facts]


class TestHasRun:
    """One that did not wait for some keys says so: it is not as whole as it looks."""

    def made(self, *missing, **options):
        made = consumer("sum", {"hourly": HOURS_TO_DAY | options})
        emit("hourly", *hours(DAY, *(n for n in range(24) if n not in missing)))
        turn()
        return made

    def said(self, made):
        if row := HeldRun.objects.held().first():
            holds.fire_now(row, deed=ALICE, at=NOW)
        world.finish(world.start(DagRun.objects.get()))
        found = why(made)
        assert found.standing is Standing.DONE
        return found.sentence.partition(" UTC")[2]

    def test_without_what_a_person_did_not_wait_for(self, db):
        assert self.said(self.made(9, 22)) == ", without hours 09, 22."

    def test_without_what_its_wait_policy_did_not_wait_for(self, db):
        made = self.made(3, wait_policy={"type": "MinimumCount", "n": -1})
        assert self.said(made) == ", without hour 03."

    def test_and_of_which_asset_where_there_are_several(self, db):
        made = consumer("sum", {"hourly": HOURS_TO_DAY, "daily": IDENTITY, "regional": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, *range(23)))
        turn()
        words = ", without hour 23 of hourly, without hours 00–23 of regional."
        assert self.said(made) == words

    def test_without_nothing_where_nothing_was_missing(self, db):
        assert self.said(self.made()) == "."


class TestHeld:
    @pytest.fixture
    def summing(self, db):
        world.dag("ingest", HOURLY, writes=["hourly"], start_date=BEGAN, is_paused=True)
        made = consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, *(n for n in range(24) if n not in (9, 22))))
        turn()
        return made

    def test_names_what_is_missing_who_owes_it_and_what_would_happen(self, summing):
        found = why(summing)
        assert (found.standing, found.sentence) == (
            Standing.HELD,
            "It is held, waiting on 2 of 24: hours 09, 22.",
        )
        assert named(found) == [("hourly", hour) for hour in hours(DAY, 9, 22)]
        assert [fact.by for fact in found.facts] == ["ingest", "ingest"]
        assert found.facts[0].expected.at == datetime(2026, 3, 10, 9, tzinfo=UTC)
        assert found.outcome == "When that has come it fires at once and becomes a queued run."
        assert found.held == world.held("sum", DAY)

    def test_says_how_far_the_one_who_owes_it_is(self, summing):
        run = trigger(world.Dag.objects.get(dag_id="ingest"), hours(DAY, 9)[0], state="failed")
        assert why(summing).facts[0].attempt == run

    def test_of_a_policy_only_so_many_as_it_takes(self):
        lenient = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 3}}
        made = consumer("sum", {"hourly": lenient})
        emit("hourly", *hours(DAY, 4))
        turn()
        assert named(why(made)) == [("hourly", hour) for hour in hours(DAY, 0, 1)]

    def test_of_alternatives_the_one_that_takes_the_least(self):
        made = consumer("either", {"hourly": HOURS_TO_DAY, "daily": IDENTITY}, join="any")
        emit("hourly", *hours(DAY, 1))
        turn()
        assert named(why(made)) == [("daily", DAY)]

    def test_a_late_key_says_until_when_it_settles(self, summing):
        emit("hourly", *hours(DAY, 9, 22))
        turn()
        claims.succeed(world.start(DagRun.objects.get()), [], at=NOW)
        emit("hourly", *hours(DAY, 9), at=NOW + MINUTE)
        turn(NOW + MINUTE)
        found = why(summing, at=NOW + MINUTE)
        assert (found.standing, found.facts) == (Standing.HELD, [])
        assert found.outcome == (
            "It settles, and fires when everything has come anew,"
            " or at 2026-03-11 09:21:00 UTC if nothing more comes."
        )
        assert [row.round for row in found.rounds] == [2, 1]

    def test_a_key_that_waits_for_a_person_says_so(self):
        made = consumer("meet", {"a": IDENTITY, "b": IDENTITY}, late="hold")
        for _ in range(2):
            emit("a", "tw")
            emit("b", "tw")
            turn()
            for run in DagRun.objects.filter(state="queued"):
                claims.succeed(world.start(run), [], at=NOW)
        outcome = why(made, "tw").outcome
        assert outcome.startswith("It still does not fire: waiting for a person: late keys need approval")

    def test_a_missing_event_that_came_and_could_not_be_counted_is_shown(self, summing):
        emit("hourly", hours(DAY, 9)[0])
        event = world.AssetEvent.objects.latest("pk")
        summing.mapping_problems.create(
            event=event, kind="failed to map partition_key", sentence="no", at=NOW
        )
        assert [problem.event for problem in why(summing).problems] == [event]


class TestNothingYet:
    def test_nothing_has_come_at_all(self):
        found = why(consumer("meet", {"a": IDENTITY, "b": IDENTITY}), "tw")
        assert (found.standing, named(found)) == (Standing.AWAITED, [("a", "tw"), ("b", "tw")])
        assert found.sentence.startswith(
            "Nothing holds a run of it yet: waiting on a (any key that maps here);"
        )

    def test_what_came_before_it_listened_counts_but_starts_nothing(self):
        emit("hourly", *hours(DAY, *range(24)))
        turn()
        found = why(consumer("sum", {"hourly": HOURS_TO_DAY}))
        assert named(found) == [("hourly", hours(DAY, 0)[0])]
        assert "the next event starts it" in found.sentence

    def test_a_dag_without_keys_waits_for_any_event(self):
        made = world.dag("plain", {"type": "AssetTimetable", "assets": {"asset": "a"}})
        world.Dependency.objects.create(dag=made, asset=world.asset("a"), leaf={"asset": "a"}, created_at=NOW)
        found = why(made, None)
        assert (found.standing, named(found), found.fires) == (Standing.AWAITED, [("a", "")], True)

    def test_after_a_cancelled_round_the_next_event_is_what_it_takes(self):
        made = consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "tw")
        turn()
        holds.cancel(world.held("meet", "tw"), deed=ALICE, at=NOW)
        found = why(made, "tw")
        assert (found.standing, named(found)) == (Standing.AWAITED, [("b", "tw")])
        assert [row.state for row in found.rounds] == ["cancelled"]

    def test_an_upstream_with_too_many_downstream_keys_can_never_start_it(self):
        spread = {
            "type": "FanOutMapper",
            "upstream_mapper": {"type": "StartOfDayMapper", "input_format": "%Y-%m-%d"},
            "window": {"type": "DayWindow"},
            "max_downstream_keys": 23,
        }
        found = why(consumer("spread", {"daily": spread}), f"{DAY}T09")
        assert found.standing == Standing.NEVER
        assert "maps to 24 downstream keys, over the limit of 23" in found.sentence


class TestNever:
    @pytest.mark.parametrize(
        ("mapper", "key", "words"),
        [
            (REGIONS, "tw", "'tw' never comes about"),
            (HOURS_TO_DAY, "10.3.2026", "10.3.2026"),
            (BERLIN | AT_LEAST_24, "2026-03-29", "needs 24 of only 23 hours"),
        ],
    )
    def test_a_key_that_the_definition_never_makes(self, mapper, key, words):
        found = why(consumer("never", {"a": mapper}), key)
        assert (found.standing, found.facts) == (Standing.NEVER, ())
        assert words in found.sentence

    def test_an_asset_that_nothing_defines(self):
        made = consumer("meet", {"a": IDENTITY, "b": IDENTITY})
        world.Dependency.objects.filter(asset__name="b").update(asset=None)
        made.revision += 1
        made.save()
        assert why(made, "tw").sentence == "It can never fire: b: nothing defines it yet."

    def test_a_definition_that_cannot_be_read(self):
        made = world.dag("broken", {"type": "Nonsense"})
        assert "Nonsense" in why(made, "tw").sentence

    def test_a_key_for_a_dag_that_has_none(self):
        found = why(world.dag("by hand"), "tw")
        assert found.standing == Standing.NEVER
        assert "is not partitioned" in found.sentence

    def test_no_key_for_a_dag_that_always_has_one_is_asked_for(self):
        with pytest.raises(KeyNeeded, match="every run of ingest has a partition key"):
            why(world.dag("ingest", HOURLY), "")


def test_costs_the_same_however_much_there_is(db):
    made = consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, 1))
    turn()

    def queries():
        with CaptureQueriesContext(connection) as found:
            why(made)
        return len(found)

    few = queries()
    emit("hourly", *hours(DAY, *range(2, 20)), *(f"2026-03-{day:02}T01:00:00" for day in range(11, 30)))
    turn()
    assert HeldRun.objects.held().count() == 20
    assert queries() == few <= 25
