"""Two Dags attempt few keys of one asset: engine and model must agree on how its partitions are.

`PARTITA_MODEL_ATTEMPTS` asks for more, `PARTITA_MODEL_FIRST` for those from a number on.
"""

import os

import pytest

from tests.chance import examples
from tests.model.attempting import AttemptHistory
from tests.model.wandering import wander

FIRST = int(os.environ.get("PARTITA_MODEL_FIRST", "0"))
EXAMPLES = int(os.environ.get("PARTITA_MODEL_ATTEMPTS", examples(24)))

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(0)]


@pytest.mark.parametrize("number", range(FIRST, FIRST + EXAMPLES))
def test_engine_and_model_agree_after_every_step(number):
    wander(number, steps=40, kind=AttemptHistory)
