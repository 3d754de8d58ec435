"""Runs whose definition file cannot be loaded now: they wait for it, and nothing has happened to them."""

from datetime import timedelta

import pytest

from core.models import Dag, DagRun, DefinitionSource, Pool
from scheduling import board, claims, execution, health, queueing, runs, turns
from scheduling.explain import Standing
from scheduling.runs import Ask
from scheduling.unloadable import AGAIN
from tests.engine import world
from tests.engine.asking import DAY, why
from tests.engine.executing import again, defined, log
from tests.engine.world import ALICE, NOW
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db
LATER = NOW + AGAIN
WHOLE = """
    with DAG("d", schedule=PartitionedAtRuntime(), max_active_runs=1):
        @task
        def work(): print("done")
    """


@pytest.fixture
def directory(db, tmp_path):
    return Directory(tmp_path)


def queued(dag_id="d"):
    return runs.trigger(
        Dag.objects.get(dag_id=dag_id), Ask(DAY if dag_id == "d" else None), deed=ALICE, at=NOW
    )


def taken(run, at=NOW):
    """A worker takes `run` and executes it, as far as it can."""
    claim = claims.claim(run.pk, worker="w1", now=at)
    if claim:
        execution.execute(claim, clock=lambda: at)
    return again(run)


@pytest.fixture
def broken(directory):
    """A run that a worker has found to be of a broken file."""
    defined(directory, WHOLE)
    directory.write("a", "1 / 0")
    return taken(queued())


class TestWaits:
    def test_it_is_queued_as_if_nobody_had_taken_it(self, broken):
        assert (broken.state, broken.attempt, broken.failures, broken.losses) == ("queued", 0, 0, 0)
        assert (broken.started_at, broken.lease_until, broken.claimed_by, broken.error) == (
            None,
            None,
            "",
            "",
        )
        assert log(broken) == []

    def test_it_is_tried_again_after_a_while_and_not_before(self, broken):
        assert turns.dispatch(now=LATER - timedelta(seconds=1)) == []
        assert claims.claim(broken.pk, worker="w1", now=LATER - timedelta(seconds=1)) is None
        assert turns.dispatch(now=LATER) == [broken.pk]
        assert taken(broken, LATER).state == "queued"
        assert turns.dispatch(now=LATER) == []

    def test_it_starts_as_soon_as_the_file_is_whole(self, broken, directory):
        defined(directory, WHOLE)
        assert turns.dispatch(now=NOW) == [broken.pk]
        assert (taken(broken).state, again(broken).attempt) == ("success", 1)

    def test_what_broke_may_have_been_another_file(self, directory):
        """The file itself has not changed since: it is loaded anew all the same."""
        defined(directory, WHOLE)
        directory.write("_beside_unloadable", "1 / 0")
        directory.write("a", "\n    import _beside_unloadable" + WHOLE)
        run = taken(queued())
        assert run.state == "queued"
        directory.write("_beside_unloadable", "is_whole = True")
        assert taken(run, LATER).state == "success"
        assert not DefinitionSource.objects.exclude(unloadable_why="").exists()

    def test_one_that_was_cancelled_meanwhile_ends(self, directory):
        defined(directory, WHOLE)
        directory.write("a", "1 / 0")
        claim = world.start(queued())
        DagRun.objects.update(cancel_requested=True)
        execution.execute(claim, clock=lambda: NOW)
        assert again(claim).state == "cancelled"


class TestOthers:
    def test_run_and_it_takes_nobody_s_place(self, directory):
        Pool.objects.create(name="lane", slots=1, created_at=NOW, updated_at=NOW)
        defined(directory, WHOLE.replace("max_active_runs=1", "pool='lane'"))
        directory.write("b", """DAG("other", pool="lane")""")
        directory.sync()
        directory.write("a", "1 / 0")
        first, other = taken(queued()), queued("other")
        assert turns.dispatch(now=NOW) == [other.pk]
        assert taken(other).state == "success"
        assert first.state == "queued"

    def test_what_another_system_executes_needs_no_file(self, broken):
        world.dag("elsewhere", executor="external", source=DefinitionSource.objects.get())
        run = queued("elsewhere")
        assert turns.on_offer(now=NOW, limit=9) == [run.pk]
        assert claims.claim(run.pk, worker="them", now=NOW, elsewhere=True)


class TestTold:
    def test_why_it_waits_names_the_file_and_the_reason(self, broken):
        [hindrance] = queueing.of_run(broken, now=NOW)
        assert hindrance.kind == "unloadable"
        assert "a.py, line 2 cannot be loaded: ZeroDivisionError: division by zero." in hindrance.sentence
        assert "tried again every 30 seconds" in hindrance.sentence
        said = why(broken.dag)
        assert (said.standing, said.sentence) == (Standing.QUEUED, hindrance.sentence)

    def test_it_is_what_needs_a_person(self, broken):
        needs = [each for each in board.needs(health.report(NOW), now=NOW) if each.kind == "definition"]
        assert "cannot be loaded: ZeroDivisionError" in needs[0].sentence
