"""Engine and model live through the same histories and must agree after every step.

`PARTITA_MODEL_EXAMPLES` and `PARTITA_MODEL_STEPS` ask for more or longer ones; `PARTITA_MODEL_SHRINK=0` shows
the first disagreement as it was found, at once.
"""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.model.history import History

EXAMPLES = int(os.environ.get("PARTITA_MODEL_EXAMPLES", "12"))
STEPS = int(os.environ.get("PARTITA_MODEL_STEPS", "40"))
SHRINK = [] if os.environ.get("PARTITA_MODEL_SHRINK") == "0" else [Phase.shrink]


@pytest.mark.timeout(900)
@pytest.mark.django_db
def test_engine_and_model_agree_after_every_step():
    run_state_machine_as_test(
        History,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            phases=[Phase.generate, *SHRINK],
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
