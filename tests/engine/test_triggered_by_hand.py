"""Runs that people trigger by a key, which is read as the Dag's schedule reads it."""

import pytest

from core.models import DagRun
from scheduling import runs, without
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
    hours,
    turn,
)

pytestmark = pytest.mark.django_db


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

    @pytest.mark.parametrize("settle_held", [True, False])
    def test_what_is_not_there_is_noted_as_where_a_person_fires(self, settle_held):
        made = consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours("2026-03-10", *range(22)))
        turn()
        run = runs.trigger(made, Ask("2026-03-10", settle_held=settle_held), deed=ALICE, at=NOW)
        lacking = list(hours("2026-03-10", 22, 23))
        assert run.is_fired_short
        assert run.missing_keys == [{"asset": "hourly", "keys": lacking}]
        assert without.in_words(run) == ", without hours 22, 23"

    def test_of_a_key_of_which_nothing_is_there_all_is_noted(self):
        made = consumer("daily", {"hourly": HOURS_TO_DAY})
        run = runs.trigger(made, Ask("2026-03-10"), deed=ALICE, at=NOW)
        assert len(run.missing_keys[0]["keys"]) == 24

    def test_what_its_policy_does_not_wait_for_is_no_lack(self):
        loose = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -2}}
        emit("hourly", *hours("2026-03-10", *range(22)))
        turn()
        made = consumer("daily", {"hourly": loose})
        run = runs.trigger(made, Ask("2026-03-10"), deed=ALICE, at=NOW)
        assert (run.missing_keys, run.is_fired_short) == (
            [{"asset": "hourly", "keys": list(hours("2026-03-10", 22, 23))}],
            False,
        )

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
