"""A key that maps to more downstream keys than are allowed opens nothing; its data is data all the same."""

from dataclasses import replace

import pytest

from core.models import DagRun, HeldRun, MappingProblem
from scheduling import configuration, holds
from scheduling.explain import Standing, explain
from tests.engine.world import (
    ALICE,
    IDENTITY,
    MINUTE,
    NOW,
    consumer,
    emit,
    finish,
    fired,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db

DAY = "2026-03-10"
HOUR = f"{DAY}T09"
SPREAD = {
    "type": "FanOutMapper",
    "upstream_mapper": {"type": "StartOfDayMapper", "input_format": "%Y-%m-%d"},
    "window": {"type": "DayWindow"},
    "max_downstream_keys": 23,
}


@pytest.fixture
def meeting(db):
    return consumer("meet", {"daily": SPREAD, "hourly": IDENTITY})


def why(dag):
    found = explain(dag, HOUR, now=NOW)
    return found, [(fact.leaf.words(), fact.key) for fact in found.facts]


class TestItsData:
    def test_counts_for_what_is_opened_afterwards(self, meeting):
        emit("daily", DAY)
        turn()
        assert not HeldRun.objects.exists()
        assert MappingProblem.objects.get().kind == "partition fan-out exceeded"
        emit("hourly", HOUR)
        turn()
        assert fired("meet") == [HOUR]

    def test_counts_for_what_is_open(self, meeting):
        emit("hourly", HOUR)
        turn()
        emit("daily", DAY)
        turn()
        assert fired("meet") == [HOUR]
        assert MappingProblem.objects.count() == 1

    def test_counts_when_both_are_mapped_at_once(self, meeting):
        emit("hourly", HOUR)
        emit("daily", DAY)
        turn()
        assert fired("meet") == [HOUR]

    def test_does_not_count_once_there_is_newer(self, meeting):
        emit("daily", DAY, DAY)
        emit("hourly", HOUR)
        turn()
        emit("hourly", HOUR, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        [received] = HeldRun.objects.held().get().received.filter(asset__name="daily")
        assert not received.is_fresh, "the first round has had it"

    def test_stays_when_the_definition_changes(self, meeting):
        emit("hourly", f"{DAY}T08", HOUR)
        turn()
        configuration.set_paused(meeting, True, deed=ALICE, at=NOW)
        emit("daily", DAY)
        turn()
        assert HeldRun.objects.held().filter(verdict="paused").count() == 2
        meeting.refresh_from_db()
        spec = meeting.schedule | {"settle": 60}
        said = configuration.preview(meeting, spec, now=NOW)
        assert (said.effect.closes.count, said.effect.lost.count) == (0, 0)
        deed = replace(ALICE, reason="it settles too slowly")
        configuration.change_schedule(meeting, spec, deed=deed, at=NOW, revision=meeting.revision)
        turn()
        assert HeldRun.objects.held().filter(verdict="paused", received_count=2).count() == 2


class TestWhatWasMade:
    """Section 9: a partition is stale when an upstream key that it consumed has a newer event."""

    @pytest.fixture
    def made(self, db):
        """The hour was made of the day and of itself, and nothing else was."""
        consumer("meet", {"daily": SPREAD, "hourly": IDENTITY}, writes=["out"])
        emit("daily", DAY)
        emit("hourly", HOUR)
        turn()
        finish(start(DagRun.objects.get()), "out")
        turn()
        return "out"

    def test_is_stale_when_it_comes_anew(self, made):
        emit("daily", DAY, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert part(made, HOUR).stale_since == NOW + MINUTE
        assert fired("meet") == [HOUR]
        assert not HeldRun.objects.held().exists(), "it opens no further round"

    def test_is_not_when_something_else_comes(self, made):
        emit("daily", "2026-03-11", at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert not part(made, HOUR).is_stale

    def test_is_fresh_again_when_it_was_made_anew(self, made):
        emit("daily", DAY, at=NOW + MINUTE)
        emit("hourly", HOUR, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert part(made, HOUR).is_stale
        finish(start(DagRun.objects.last(), at=NOW + MINUTE), "out", at=NOW + 2 * MINUTE)
        assert not part(made, HOUR).is_stale
        turn(NOW + 2 * MINUTE)
        assert not part(made, HOUR).is_stale

    def test_is_not_when_the_run_has_counted_it_before_it_was_mapped(self, db):
        consumer("meet", {"daily": SPREAD, "hourly": IDENTITY}, writes=["out"])
        emit("hourly", HOUR)
        emit("daily", DAY)
        holds.route_pending(now=NOW, limit=1)
        finish(start(DagRun.objects.get()), "out")
        turn()
        assert fired("meet") == [HOUR]
        assert not part("out", HOUR).is_stale

    def test_is_not_when_it_was_made_without_it(self, db):
        consumer("either", {"daily": SPREAD, "hourly": IDENTITY}, join="any", writes=["out"])
        emit("hourly", HOUR)
        turn()
        finish(start(DagRun.objects.get()), "out")
        emit("daily", DAY, at=NOW + MINUTE)
        turn(NOW + MINUTE)
        assert not part("out", HOUR).is_stale


class TestWhy:
    def test_names_what_must_open_it(self, meeting):
        emit("hourly", HOUR)
        turn()
        HeldRun.objects.all().delete()
        found, facts = why(meeting)
        assert facts == [("hourly", HOUR), ("daily", DAY)]
        assert found.fires
        assert found.sentence.endswith(
            f"By itself this opens nothing: key '{DAY}' maps to 24 downstream keys, over the limit of 23: "
            "none was queued; another asset must."
        )
        emit("daily", DAY)
        turn()
        assert fired("meet") == []
        emit("hourly", HOUR)
        turn()
        assert fired("meet") == [HOUR]

    def test_names_both_where_neither_is_there(self, meeting):
        found, facts = why(meeting)
        assert facts == [("daily", DAY), ("hourly", HOUR)]
        assert "another asset must" in found.sentence

    def test_names_it_alone_for_what_is_open(self, meeting):
        emit("hourly", HOUR)
        turn()
        found, facts = why(meeting)
        assert (facts, found.fires) == ([("daily", DAY)], True)
        assert "opens nothing" not in found.sentence

    def test_prefers_an_alternative_that_opens(self):
        either = consumer("either", {"daily": SPREAD, "hourly": IDENTITY}, join="any")
        found, facts = why(either)
        assert (facts, found.fires) == ([("hourly", HOUR)], True)
        assert "opens nothing" not in found.sentence

    def test_says_never_where_nothing_else_can_open_it(self):
        both = consumer("both", {"daily": SPREAD, "other": SPREAD})
        emit("daily", DAY)
        emit("other", DAY)
        turn()
        found, facts = why(both)
        assert (found.standing, facts) == (Standing.NEVER, [])
        assert "over the limit of 23" in found.sentence
