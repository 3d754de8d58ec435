"""What cannot be mapped, judged or completed is shown, and stops nobody else."""

import pytest

from core.models import HeldRun, JournalEntry, MappingProblem
from scheduling import holds
from scheduling.algebra.verdicts import Kind
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW, consumer, emit, fired, held, hours, turn

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"


class TestPoison:
    def test_a_key_that_cannot_be_mapped_is_kept_and_stops_nobody(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        consumer("copy", {"hourly": IDENTITY})
        emit("hourly", "not-a-time", *hours(DAY, 1))
        turn()
        problem = MappingProblem.objects.get()
        assert (problem.dag.dag_id, problem.kind) == ("daily", "failed to map partition_key")
        assert "not-a-time" in problem.sentence
        assert sorted(fired("copy")) == [*hours(DAY, 1), "not-a-time"]
        assert held("daily", DAY).received_count == 1
        assert JournalEntry.objects.filter(event=problem.kind, dag_id="daily").count() == 1

    def test_an_event_without_a_key_says_who_did_not_count_it(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", None)
        turn()
        assert MappingProblem.objects.get().kind == "missing partition key"
        assert not HeldRun.objects.exists()

    def test_a_definition_that_cannot_be_read_stops_only_its_own_dag(self):
        broken = consumer("broken", {"a": {"type": "NoSuchMapper"}})
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        turn()
        assert fired("copy") == ["k"]
        assert MappingProblem.objects.get(dag=broken).sentence.startswith("Dag broken:")

    def test_a_definition_that_breaks_later_shows_on_what_it_holds(self):
        broken = consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k")
        turn()
        broken.dependencies.update(mapper={"type": "NoSuchMapper"})
        broken.revision += 1
        broken.save()
        consumer("copy", {"a": IDENTITY})
        holds.judge_again([broken], at=NOW)
        emit("a", "other")
        turn()
        assert held("joined", "k").verdict == Kind.BROKEN
        assert fired("copy") == ["other"]

    def test_a_target_key_as_long_as_a_key_may_be_is_one(self):
        """One that is longer is a problem of that Dag: see `test_target_keys`."""
        consumer("fixed", {"a": {"type": "ProductMapper", "mappers": [IDENTITY, IDENTITY], "delimiter": "+"}})
        emit("a", "+".join(["x" * 124, "y" * 125]))
        turn()
        assert fired("fixed") == ["+".join(["x" * 124, "y" * 125])]

    def test_five_hundred_hopeless_held_runs_do_not_delay_a_complete_one(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        consumer("copy", {"ready": IDENTITY})
        days = [f"20{year:02}-01-01" for year in range(10, 60)]
        emit("hourly", *(key for day in days for key in hours(day, *range(10))))
        turn()
        emit("ready", "now")
        assert holds.route_pending(now=NOW) == 1
        assert fired("copy") == ["now"]
        assert holds.judge_due(now=NOW) == 0
