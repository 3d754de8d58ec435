"""Why has this partition not run? One world for each answer."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import DagRun, HeldRun, Pool
from scheduling import backfills, claims, configuration, holds, runs
from scheduling.explain import KeyNeeded, Standing, explain
from scheduling.runs import Ask
from tests.engine import world
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


def why(dag, key=DAY, at=NOW):
    dag.refresh_from_db()
    return explain(dag, key, now=at)


def named(explanation):
    return [(fact.leaf.words(), fact.key) for fact in explanation.facts]


def trigger(dag, key=DAY, **fields):
    run = runs.trigger(dag, Ask(key), deed=ALICE, at=NOW)
    DagRun.objects.filter(pk=run.pk).update(**fields)
    return run


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


class TestTicks:
    @pytest.fixture
    def ingest(self, db):
        return world.dag("ingest", HOURLY, start_date=BEGAN)

    def test_one_to_come(self, ingest):
        found = why(ingest, "2026-03-12T09:00:00")
        assert (found.standing, found.comes_at) == (Standing.SCHEDULED, datetime(2026, 3, 12, 9, tzinfo=UTC))
        assert found.sentence == "It comes into being at 2026-03-12 09:00 UTC."

    def test_one_that_comes_again_today(self):
        refresh = {"type": "CronPartitionTimetable", "cron": "*/5 * * * *", "key_format": "%Y-%m-%d"}
        found = why(world.dag("refresh", refresh, start_date=BEGAN), "2026-03-11")
        assert found.comes_at == NOW + 5 * MINUTE

    def test_one_that_no_tick_makes(self, ingest):
        assert "No tick of ingest is for it" in why(ingest, "2026-03-10T09:30:00").sentence

    def test_one_from_before_it_began(self, ingest):
        assert "before ingest began (2026-03-01 00:00 UTC)" in why(ingest, "2026-02-01T09:00:00").sentence

    def test_one_after_its_end(self, ingest):
        world.Dag.objects.update(end_date=NOW)
        assert "after the end of ingest" in why(ingest, "2026-03-12T09:00:00").sentence

    def test_one_that_nobody_has_looked_at_yet(self, ingest):
        assert "is beat alive?" in why(ingest, "2026-03-10T09:00:00").sentence

    def test_one_that_was_passed_over_while_paused(self, ingest):
        world.Dag.objects.update(is_paused=True, ticked_until=BEGAN)
        found = why(ingest, "2026-03-10T09:00:00")
        assert "came while ingest is paused" in found.sentence
        assert [each.kind for each in found.hindrances] == ["paused"]
        configuration.set_paused(ingest, False, deed=ALICE, at=NOW)
        assert why(ingest, "2026-03-10T09:00:00").standing == Standing.PASSED_OVER

    @pytest.mark.parametrize(
        ("catchup", "rule"), [("all", "all ticks"), ("last", "only the last tick"), ("none", "no tick")]
    )
    def test_one_of_a_dag_that_was_paused_before_it_began(self, ingest, catchup, rule):
        world.Dag.objects.update(is_paused=True, catchup=catchup)
        assert f"when unpaused it makes up {rule} till then" in why(ingest, "2026-03-10T09:00:00").sentence

    def test_a_dag_whose_runs_name_their_keys(self):
        made = world.dag("names", {"type": "CronRuntimePartitionTimetable", "cron": "0 * * * *"})
        assert (
            why(made, "tw").sentence
            == "Its next tick is at 2026-03-11 10:00 UTC; the run then names its keys."
        )

    def test_a_dag_that_somebody_has_to_trigger(self):
        found = why(world.dag("runtime", {"type": "PartitionedAtRuntime"}), "tw")
        assert (found.standing, found.sentence) == (
            Standing.BY_HAND,
            "Nothing makes it by itself: somebody has to trigger it, or a backfill has.",
        )


class TestRuns:
    @pytest.fixture
    def dag(self, db):
        return world.dag("load", {"type": "PartitionedAtRuntime"}, max_active_runs=2)

    def test_one_that_ran(self, dag):
        trigger(dag, state="success", ended_at=NOW)
        found = why(dag)
        assert (found.standing, found.sentence) == (
            Standing.DONE,
            "It has run: its last run ended well at 2026-03-11 09:10:00 UTC.",
        )

    def test_one_that_failed_says_of_what(self, dag):
        trigger(dag, state="failed", ended_at=NOW, error="Traceback\nRuntimeError: no paper")
        found = why(dag)
        assert found.standing == Standing.FAILED
        assert found.sentence.endswith("failed at 2026-03-11 09:10:00 UTC: RuntimeError: no paper.")

    def test_one_that_was_cancelled(self, dag):
        run = trigger(dag)
        runs.cancel(run, deed=ALICE, at=NOW)
        assert why(dag).standing == Standing.CANCELLED

    def test_one_that_runs(self, dag):
        world.start(trigger(dag))
        assert why(dag).standing == Standing.RUNNING

    def test_one_that_is_behind_others_of_its_dag(self, dag):
        busy = [world.start(trigger(dag, key)) for key in ("a", "b")]
        trigger(dag)
        [limit] = why(dag).hindrances
        assert (limit.kind, list(limit.behind)) == ("max_active_runs", busy)
        assert limit.sentence == "load may have 2 at a time, and 2 are running."

    def test_one_that_is_behind_those_of_its_pool(self, dag):
        pool = Pool.objects.create(name="sftp", slots=1, created_at=NOW, updated_at=NOW)
        other = world.dag("other", {"type": "PartitionedAtRuntime"}, pool=pool)
        busy = world.start(trigger(other))
        world.Dag.objects.filter(pk=dag.pk).update(pool=pool)
        trigger(dag)
        [limit] = why(dag).hindrances
        assert (limit.kind, list(limit.behind)) == ("pool", [busy])
        assert limit.sentence == "1 of 1 slots of pool sftp are taken, and it needs 1."

    def test_one_that_is_in_line(self, dag):
        first = trigger(dag, "a")
        trigger(dag)
        [line] = why(dag).hindrances
        assert (line.kind, list(line.behind)) == ("queue", [first])

    def test_one_that_waits_for_its_next_attempt(self, dag):
        trigger(dag, run_after=NOW + timedelta(hours=1), failures=1)
        assert why(dag).sentence == "It failed and is tried again from 2026-03-11 10:10:00 UTC on."

    def test_one_that_no_worker_takes(self, dag):
        trigger(dag)
        assert why(dag).sentence == "No worker is alive: nothing runs until one is started."

    def test_one_of_a_paused_dag(self, dag):
        trigger(dag)
        configuration.set_paused(dag, True, deed=ALICE, at=NOW)
        assert [each.kind for each in why(dag).hindrances] == ["paused"]

    def test_one_that_a_backfill_has(self, dag):
        backfill = backfills.start(backfills.Ask((dag,), keys=("a", "b")), deed=ALICE, at=NOW)
        [planned] = why(dag, "b").backfills
        assert (planned.target.backfill, planned.state) == (backfill, "ready")
        backfills.advance(now=NOW)
        backfills.pause(backfill, deed=ALICE, at=NOW)
        assert [each.kind for each in why(dag, "a").hindrances] == ["backfill"]


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
