"""Engine and model live through the same histories and must agree after every step.

`PARTITA_MODEL_EXAMPLES` and `PARTITA_MODEL_STEPS` ask for more or longer ones, `PARTITA_MODEL_FIRST` for
those from a number on. `PARTITA_MODEL_SHORT` has hypothesis try so many, for a short one that shows a fault.
"""

import os

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.history import History
from tests.model.wandering import numbers, wander

STEPS = int(os.environ.get("PARTITA_MODEL_STEPS", "40"))
SHORT = int(os.environ.get("PARTITA_MODEL_SHORT", "4"))

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(0)]


@pytest.mark.parametrize("number", numbers("PARTITA_MODEL_EXAMPLES", 12))
def test_engine_and_model_agree_after_every_step(number):
    wander(number, steps=STEPS)


def test_hypothesis_finds_no_short_history_on_which_they_do_not():
    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=SHORT,
            stateful_step_count=STEPS,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
