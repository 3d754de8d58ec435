from datetime import timedelta

import pytest

from core.models import DefinitionSource, Pulse
from scheduling import board, claims, drawings, health, runs
from scheduling.algebra import specs
from scheduling.belonging import Sight
from scheduling.runs import Ask
from scheduling.sdk import DailyPartitions, HourlyPartitions
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, asset, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def engine(db):
    """A beat and a worker that are alive, so that only what a test brings needs a person."""
    for kind in Pulse.Kind:
        health.pulse(kind.value, kind, now=NOW)


def needs(now=NOW):
    return board.needs(health.report(now), now=now)


class TestNeeds:
    def test_a_quiet_installation_needs_nobody(self):
        emit("hourly", "2026-03-09T07:00:00")
        assert needs() == []

    def test_a_silent_engine_comes_first(self):
        DefinitionSource.objects.create(name="shop.py", error="NameError: sale", loaded_at=NOW)
        found = needs(NOW + timedelta(minutes=5))
        assert [need.kind for need in found] == ["engine", "engine", "definition"]
        assert "silent" in found[0].sentence

    def test_a_file_that_cannot_be_loaded_is_named_with_its_error(self):
        DefinitionSource.objects.create(name="shop.py", error="NameError: sale", loaded_at=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.sentence) == ("definition", "shop.py", "NameError: sale")

    def test_a_dag_that_can_never_fire_is_named_but_no_warning(self):
        error = {"code": "never-fires", "level": "error", "sentence": "2026 can never equal 2026-03-10"}
        world.dag("broken", problems=[error, error])
        world.dag("warned", problems=[error | {"level": "warning"}])
        [need] = needs()
        assert (need.subject, need.sentence, need.count) == ("broken", error["sentence"], 2)

    def test_what_is_late_comes_first_once_per_dag(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1), *hours("2026-03-11", 1))
        turn()
        later = timedelta(minutes=5)
        world.HeldRun.objects.exclude(partition_key="2026-03-11").update(late_at=NOW)
        world.HeldRun.objects.filter(partition_key="2026-03-11").update(late_at=NOW + 2 * later)
        late, *others = needs(NOW + later)
        assert (late.kind, late.subject, late.count, late.at) == ("late", "sum", 2, NOW)
        assert [need.kind for need in others] == ["engine", "engine"]
        assert health.report(NOW + later).late_held_runs == 2

    def test_held_runs_that_can_never_fire_are_counted_per_dag(self):
        hopeless = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": 24}}
        consumer("sum", {"hourly": hopeless})
        emit("hourly", *hours("2026-03-09", 1), *hours("2026-03-10", 1))
        turn()
        world.HeldRun.objects.update(verdict="unreachable", sentence="can never fire")
        [need] = needs()
        assert (need.kind, need.subject, need.verdict, need.count) == ("held", "sum", "unreachable", 2)

    def test_failed_partitions_are_named_for_a_day(self):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
        claims.fail(world.start(runs.trigger(made, Ask("2026-03-09"), deed=ALICE, at=NOW)), "boom", at=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.sentence) == ("failed", "daily", "2026-03-09")
        for kind in Pulse.Kind:
            health.pulse(kind.value, kind, now=NOW + timedelta(days=2))
        assert needs(NOW + timedelta(days=2)) == []

    def test_a_failed_run_without_a_key_is_named_by_its_dag(self):
        made = world.dag("report")
        claims.fail(world.start(runs.trigger(made, Ask(), deed=ALICE, at=NOW)), "no paper", at=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.sentence) == ("run", "report", "no paper")

    def test_one_after_which_the_dag_has_succeeded_is_not(self):
        made = world.dag("report")
        claims.fail(world.start(runs.trigger(made, Ask(), deed=ALICE, at=NOW)), "no paper", at=NOW)
        later = NOW + timedelta(minutes=1)
        world.finish(world.start(runs.trigger(made, Ask(), deed=ALICE, at=later), at=later), at=later)
        assert needs() == []
        last = NOW + timedelta(minutes=2)
        claims.fail(world.start(runs.trigger(made, Ask(), deed=ALICE, at=last), at=last), "no ink", at=last)
        assert [need.sentence for need in needs()] == ["no ink"]

    def test_events_that_nobody_could_count_are_named(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", "noon", None)
        turn()
        [need] = needs()
        assert (need.kind, need.subject, need.count) == ("mapping", "hourly", 2)
        assert need.sentence.startswith("noon and 1 more: sum cannot count them: ")

    def test_one_bad_event_is_told_once_with_all_that_listen(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        consumer("other", {"hourly": HOURS_TO_DAY})
        emit("hourly", "noon")
        turn()
        [need] = needs()
        assert (need.kind, need.subject, need.count) == ("mapping", "hourly", 1)
        assert need.sentence.startswith("noon: other, sum cannot count it: ")

    def test_an_asset_of_others_is_named_by_the_dag_that_listens_to_it(self):
        asset("hourly", group="theirs"), asset("daily", group="ours")
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        consumer("other", {"hourly": HOURS_TO_DAY})
        emit("hourly", "noon", None)
        turn()
        [need] = board.needs(health.report(NOW), now=NOW, sight=Sight(frozenset(["ours"])))
        assert (need.kind, need.subject, need.count) == ("uncounted", "sum", 2)
        assert need.sentence.startswith("cannot count noon and 1 more of hourly: ")
        [need] = board.needs(health.report(NOW), now=NOW, sight=Sight(frozenset(["theirs"])))
        assert (need.kind, need.subject) == ("mapping", "hourly")
        assert need.sentence.startswith("noon and 1 more: other cannot count them: ")

    def test_keys_that_very_many_dags_do_not_count_are_told(self):
        """Twenty keys for each of sixty Dags: more pairs than SQLite takes alternatives."""
        asset("hourly", partitions=specs.dump(HourlyPartitions("2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")))
        for number in range(60):
            consumer(f"sum {number}", {"hourly": HOURS_TO_DAY})
        emit("hourly", *(f"2026-02-{day:02}T00:30:00" for day in range(1, 21)))
        drawings.draw(now=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.count) == ("unexpected", "hourly", 20)

    def test_one_that_is_not_in_the_definition_either_is_told_once(self):
        day = specs.dump(HourlyPartitions("2026-03-09", "2026-03-11", key_format="%Y-%m-%dT%H:%M:%S"))
        asset("hourly", partitions=day)
        consumer("sum", {"hourly": HOURS_TO_DAY})
        consumer("other", {"hourly": HOURS_TO_DAY})
        emit("hourly", "noon")
        turn()
        drawings.draw(now=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.count) == ("unexpected", "hourly", 1)
        assert need.sentence == "noon is not in its definition; other, sum cannot map it"
        assert need.reason.startswith("Report it under a key")

    def test_one_that_a_mapper_made_was_reported_by_nobody(self):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01", "2026-03-05")))
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", "2026-03-09T07:00:00")
        emit("daily", "2026-03-08")
        turn()
        drawings.draw(now=NOW)
        reported, made = needs()
        assert reported.sentence == "2026-03-08 is not in its definition"
        assert reported.reason.startswith("Report it under a key")
        assert made.sentence == "2026-03-09 is not in its definition"
        assert made.reason.startswith("A mapper made it of another key")

    def test_keys_that_are_not_in_the_definition_are_named_with_what_waits(self):
        day = specs.dump(HourlyPartitions("2026-03-09", "2026-03-11", key_format="%Y-%m-%dT%H:%M:%S"))
        asset("hourly", partitions=day)
        consumer("sum", {"hourly": HOURS_TO_DAY})
        consumer("copy", {"hourly": IDENTITY})
        emit("hourly", "2026-03-09T07:00:00", "2026-03-09T07:30:00")
        turn()
        drawings.draw(now=NOW)
        [need] = needs()
        assert (need.kind, need.subject, need.count) == ("unexpected", "hourly", 1)
        held = "; held runs of sum do not count it"
        assert need.sentence == f"2026-03-09T07:30:00 is not in its definition{held}"

    def test_what_is_true_of_some_keys_only_is_said_of_those(self):
        day = specs.dump(HourlyPartitions("2026-03-09", "2026-03-11", key_format="%Y-%m-%dT%H:%M:%S"))
        asset("hourly", partitions=day)
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", "2026-03-09T07:00:00", "2026-03-09T07:30:00", "2026-03-09T07:45:00", "noon")
        turn()
        drawings.draw(now=NOW)
        [need] = needs()
        assert need.sentence == (
            "noon and 2 more are not in its definition; held runs of sum do not count 2 of them; "
            "sum cannot map 1 of them"
        )

    def test_keys_that_came_before_their_time_need_nobody(self):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01")))
        emit("daily", "2026-03-11", "2026-03-12")
        drawings.draw(now=NOW)
        assert needs() == []


class TestFlow:
    def test_counts_what_waits_and_what_moves(self):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        consumer("copy", {"hourly": IDENTITY})
        emit("hourly", *hours("2026-03-09", 1, 2))
        turn()
        world.start(world.DagRun.objects.first())
        assert board.flow() == {"held": 1, "queued": 1, "running": 1, "paused": 0}
        assert board.verdicts() == {"waiting": 1}

    def test_a_paused_dag_is_counted(self):
        world.dag("nightly", None, is_paused=True)
        assert board.flow()["paused"] == 1

    def test_nothing_is_counted_as_nothing(self):
        assert board.flow() == {"held": 0, "queued": 0, "running": 0, "paused": 0}
