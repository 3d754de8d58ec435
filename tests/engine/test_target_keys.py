"""A mapper that makes of a key what no key may be: that Dag says so, and nobody else notices."""

from dataclasses import dataclass

import pytest

from core.models import AssetEvent, HeldRun, JournalEntry, MappingProblem
from scheduling import runs
from scheduling.algebra import registry
from scheduling.algebra.mappers import Mapper
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    IDENTITY,
    NOW,
    RUNTIME,
    consumer,
    dag,
    emit,
    finish,
    fired,
    part,
    start,
    turn,
)

pytestmark = pytest.mark.django_db

WRONG = ["", " ", " k", "a\nb", "x" * 251]


@dataclass(frozen=True)
class Wrong(Mapper):
    """A plug-in that makes one key of every key, whatever that is."""

    made: str = ""
    times: int = 1

    def to_downstream(self, key):
        return (self.made,) * self.times


@pytest.fixture(autouse=True)
def plugin(monkeypatch):
    monkeypatch.setitem(registry._KNOWN["mapper"], "Wrong", Wrong)


def listen(made):
    return consumer("wrong", {"out": {"type": "Wrong", "made": made}})


@pytest.mark.parametrize("made", WRONG)
class TestTargetKey:
    def test_that_can_be_none_is_a_problem_of_that_dag_alone(self, made):
        wrong = listen(made)
        consumer("copy", {"out": IDENTITY})
        emit("out", "k", "l")
        turn()
        problems = MappingProblem.objects.order_by("pk")
        assert [(each.dag, each.event.partition_key) for each in problems] == [(wrong, "k"), (wrong, "l")]
        assert {each.kind for each in problems} == {"failed to map partition_key"}
        assert all(each.sentence for each in problems)
        assert JournalEntry.objects.filter(dag_id="wrong", event="failed to map partition_key").exists()
        assert sorted(fired("copy")) == ["k", "l"]
        assert not HeldRun.objects.filter(dag=wrong).exists()
        assert not AssetEvent.objects.unrouted().exists()

    def test_does_not_fail_the_producer(self, made):
        listen(made)
        run = start(runs.trigger(dag("make", RUNTIME, writes=["out"]), Ask("k"), deed=ALICE, at=NOW))
        finish(run, "out")
        turn()
        run.refresh_from_db()
        assert (run.state, run.error) == ("success", "")
        assert part("out", "k").state == "materialized"


def test_a_definition_that_cannot_be_read_does_not_fail_the_producer():
    consumer("broken", {"out": {"type": "NoSuchMapper"}})
    run = start(runs.trigger(dag("make", RUNTIME, writes=["out"]), Ask("k"), deed=ALICE, at=NOW))
    finish(run, "out")
    turn()
    run.refresh_from_db()
    assert run.state == "success"
    assert part("out", "k").state == "materialized"
    assert MappingProblem.objects.get().dag.dag_id == "broken"


def test_one_key_named_often_is_one_of_the_limit():
    consumer("often", {"out": {"type": "Wrong", "made": "same", "times": 30, "max_downstream_keys": 2}})
    emit("out", "k")
    turn()
    assert fired("often") == ["same"]
    assert not MappingProblem.objects.exists()
