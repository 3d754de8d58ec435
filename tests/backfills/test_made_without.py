"""Without which keys a run of a backfill was made: noted as where its key fires, or is fired by hand."""

import pytest

from core.models import Dag, DagRun
from scheduling import without
from tests.backfills.play import begin, drive
from tests.engine.world import HOURS_TO_DAY, consumer, emit, hours

pytestmark = pytest.mark.django_db
LOOSE = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -2}}
FIRST, SECOND = "2026-03-01", "2026-03-02"


@pytest.mark.parametrize("keys_per_run", [1, 2])
def test_what_a_wait_policy_did_without_is_noted_and_no_lack(keys_per_run):
    emit("hours", *hours(FIRST, *range(23)), *hours(SECOND, *range(1, 24)))
    dag = consumer("day", {"hours": LOOSE}, writes=["daily"])
    Dag.objects.update(max_keys_per_run=None)
    dag.refresh_from_db()
    drive(begin(dag, selection=f"[{FIRST}...{SECOND}]", keys_per_run=keys_per_run))
    noted = {"asset": "hours", "keys": [*hours(FIRST, 23), *hours(SECOND, 0)]}
    runs = DagRun.objects.order_by("pk")
    assert [key for run in runs for each in run.missing_keys for key in each["keys"]] == noted["keys"]
    assert not any(run.is_fired_short for run in runs)
    if keys_per_run == 1:
        assert without.in_words(runs[0]) == ", without hour 23"


def test_what_had_all_notes_nothing():
    emit("hours", *hours(FIRST, *range(24)))
    drive(begin(consumer("day", {"hours": LOOSE}, writes=["daily"]), selection=FIRST))
    assert DagRun.objects.get().missing_keys == []
