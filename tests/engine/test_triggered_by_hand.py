"""Runs that people trigger by a key, which is read as the Dag's schedule reads it."""

import pytest

from core.models import DagRun
from scheduling import runs
from scheduling.algebra.errors import InvalidKey
from scheduling.runs import Ask
from tests.engine.world import (
    ALICE,
    DAILY,
    HOURS_TO_DAY,
    IDENTITY,
    NOW,
    RUNTIME,
    consumer,
    dag,
    emit,
    fired,
    held,
    turn,
)

pytestmark = pytest.mark.django_db


def make(key="k", made=None, **fields):
    made = made or dag("ingest", RUNTIME, writes=["out"], **fields)
    return runs.trigger(made, Ask(key), deed=ALICE, at=NOW)


class TestTriggerByHand:
    def test_a_key_for_a_dag_without_partitions_is_refused(self):
        with pytest.raises(runs.NotPartitioned, match="plain"):
            runs.trigger(dag("plain"), Ask("k"), deed=ALICE, at=NOW)

    def test_a_key_the_timetable_cannot_read_is_refused_and_nothing_is_made(self):
        made = dag("ticking", DAILY)
        with pytest.raises(InvalidKey):
            runs.trigger(made, Ask("10/03/2026"), deed=ALICE, at=NOW)
        assert not DagRun.objects.exists()

    @pytest.mark.parametrize("key", ["2026-03-08T02:00", "seattle|<img src=x>", "seattle|2026-03-08|x"])
    def test_a_key_that_no_rollup_can_read_is_refused(self, key):
        made = consumer("daily", {"hourly": {"type": "ProductMapper", "mappers": [IDENTITY, HOURS_TO_DAY]}})
        with pytest.raises(InvalidKey):
            runs.trigger(made, Ask(key), deed=ALICE, at=NOW)
        assert runs.trigger(made, Ask("seattle|2026-03-08"), deed=ALICE, at=NOW).partition_date

    def test_the_date_a_key_means_is_kept(self):
        made = dag("ticking", DAILY)
        run = runs.trigger(made, Ask("2026-03-10"), deed=ALICE, at=NOW)
        assert run.partition_date.isoformat() == "2026-03-10T00:00:00+00:00"

    def test_it_settles_the_held_run_of_that_key(self):
        made = consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k")
        turn()
        run = runs.trigger(made, Ask("k"), deed=ALICE, at=NOW)
        assert run.held_runs.get().closed_by == "alice"
        emit("b", "k")
        turn()
        assert fired("joined") == ["k"]

    def test_unless_the_person_says_no(self):
        made = consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "k")
        turn()
        runs.trigger(made, Ask("k", settle_held=False), deed=ALICE, at=NOW)
        assert held("joined", "k").state == "held"

    def test_a_run_id_is_taken_once(self):
        made = dag("ingest", RUNTIME)
        runs.trigger(made, Ask("k", run_id="mine"), deed=ALICE, at=NOW)
        with pytest.raises(runs.DuplicateRunId, match="mine"):
            runs.trigger(made, Ask("k", run_id="mine"), deed=ALICE, at=NOW)
