"""Keys that another mapper cannot map, or can map at last."""

import pytest

from core.models import JournalEntry, MappingProblem
from tests.engine import world
from tests.engine.refiled import held
from tests.engine.world import NOW

pytestmark = pytest.mark.django_db


class TestProblems:
    def test_a_key_that_cannot_be_mapped_any_more_is_shown_as_one(self, listen):
        listen("IdentityMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", "2026-03-10T09:00:00", "tw")
        world.turn()
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")')
        problem = MappingProblem.objects.get()
        assert (problem.event.partition_key, problem.dag.dag_id) == ("tw", "c")
        assert JournalEntry.objects.filter(event=problem.kind, partition_key="tw").count() == 1

    def test_what_an_edit_lost_comes_back_with_the_next(self, listen):
        both = 'Asset("a") & Asset("b")'
        listen("IdentityMapper()", assets=both, at=NOW)
        world.emit("a", "tw")
        world.turn()
        listen("StartOfDayMapper()", assets=both, fits=False)
        assert held() == {}
        listen("IdentityMapper()", assets=both)
        assert held() == {"tw": ["tw"]}
        assert not MappingProblem.objects.exists()

    def test_a_key_that_could_not_be_mapped_counts_once_it_can(self, listen):
        listen("StartOfDayMapper()", at=NOW)
        world.emit("a", "tw")
        world.turn()
        assert MappingProblem.objects.count() == 1
        listen("IdentityMapper()")
        assert world.fired("c") == ["tw"]
        assert not MappingProblem.objects.exists()

    def test_one_that_still_cannot_is_told_once(self, listen):
        listen("StartOfDayMapper()", at=NOW)
        world.emit("a", "tw")
        world.turn()
        listen("StartOfHourMapper()", fits=False)
        assert MappingProblem.objects.count() == 1
        assert JournalEntry.objects.filter(event="failed to map partition_key").count() == 1
