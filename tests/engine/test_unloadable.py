"""Runs whose definition file cannot be loaded now: they wait for it, and nothing has happened to them."""

from datetime import timedelta

import pytest
from django.db import OperationalError

from core.models import Bell, Dag, DagRun, DefinitionSource, Pool
from scheduling import board, claims, execution, health, queueing, runs, turns, unloadable
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
MANY = WHOLE.replace("max_active_runs=1", "max_active_runs=3")


@pytest.fixture
def directory(db, tmp_path):
    return Directory(tmp_path)


def queued(dag_id="d", key=DAY):
    return runs.trigger(
        Dag.objects.get(dag_id=dag_id), Ask(key if dag_id == "d" else None), deed=ALICE, at=NOW
    )


def sent(*keys):
    """Runs of d whose messages are on their way to workers."""
    made = [queued(key=key) for key in keys]
    assert turns.dispatch(now=NOW) == [run.pk for run in made]
    return made


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


def test_a_database_that_fails_is_no_failure_of_the_run(directory, monkeypatch):
    """Its worker says no more of it, and another takes it when the lease has ended."""
    defined(directory, WHOLE)

    def fail(sources):
        raise OperationalError("server closed the connection unexpectedly")

    monkeypatch.setattr(unloadable, "note_loaded", fail)
    run = queued()
    with pytest.raises(OperationalError):
        taken(run)
    assert (again(run).state, again(run).error) == ("running", "")
    monkeypatch.undo()
    gone = NOW + 2 * claims.LEASE
    claims.take_over_lost(now=gone)
    assert (again(run).state, again(run).failures) == ("queued", 0)
    assert taken(run, gone).state == "success"


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

    def test_those_that_were_sent_with_it_start_as_soon_as_the_file_is_whole(self, directory):
        defined(directory, MANY)
        made = sent("1", "2", "3")
        directory.write("a", "1 / 0")
        assert {taken(run).state for run in made} == {"queued"}
        defined(directory, MANY)
        assert turns.dispatch(now=NOW) == [run.pk for run in made]

    def test_what_a_task_says_of_files_fails_its_run(self, directory):
        """Its tasks have begun: it would begin anew every half a minute, and no attempt would count."""
        broken = "from scheduling.definitions import CannotLoad as No; raise No('another')"
        defined(directory, WHOLE.replace('print("done")', broken))
        assert taken(queued()).state == "failed"

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

    def test_have_the_slots_of_those_that_were_sent_with_it(self, directory):
        """Their messages have arrived and started nothing: they are not on their way any more."""
        Pool.objects.create(name="lane", slots=2, created_at=NOW, updated_at=NOW)
        defined(directory, MANY.replace("max_active_runs=3", "pool='lane'"))
        directory.write("b", """DAG("other", pool="lane")""")
        directory.sync()
        made = sent("1", "2")
        directory.write("a", "1 / 0")
        for run in made:
            taken(run)
        others = [queued("other"), queued("other")]
        assert turns.dispatch(now=NOW) == [run.pk for run in others]

    def test_are_looked_for_at_once(self, broken, settings, django_capture_on_commit_callbacks):
        Bell.objects.all().delete()
        with django_capture_on_commit_callbacks(execute=True):
            taken(broken, LATER)
        assert Bell.objects.filter(name="start_runs").exists() is settings.EMBEDDED

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

    def test_a_reason_that_ends_in_a_question_gets_no_full_stop(self, directory):
        defined(directory, WHOLE)
        directory.write("a", "from collections import OrderedDic")
        [hindrance] = queueing.of_run(taken(queued()), now=NOW)
        assert "did you mean OrderedDict? It is tried again" in hindrance.sentence

    def test_it_is_what_needs_a_person(self, broken):
        needs = [each for each in board.needs(health.report(NOW), now=NOW) if each.kind == "definition"]
        assert "cannot be loaded: ZeroDivisionError" in needs[0].sentence

    def test_it_is_told_no_more_when_the_file_is_gone(self, directory):
        """Its Dag is in another one."""
        defined(directory, WHOLE)
        directory.remove("a")
        run = taken(queued())
        directory.write("b", WHOLE)
        assert directory.sync().ok
        assert not DefinitionSource.objects.exclude(unloadable_why="").exists()
        assert taken(run).state == "success"

    def test_of_a_long_reason_the_beginning_is_told(self, directory):
        defined(directory, WHOLE)
        directory.write("a", "raise ValueError('x' * 1_000_000)")
        [hindrance] = queueing.of_run(taken(queued()), now=NOW)
        assert "cannot be loaded: ValueError: xxx" in hindrance.sentence
        assert len(hindrance.sentence) < 2000
