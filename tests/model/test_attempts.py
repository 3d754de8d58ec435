"""Two Dags attempt few keys of one asset: engine and model must agree on how its partitions are.

`PARTITA_MODEL_ATTEMPTS` asks for more, `PARTITA_MODEL_FIRST` for those from a number on.
"""

import pytest

from tests.model.attempting import AttemptHistory
from tests.model.wandering import numbers, wander

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(0)]


@pytest.mark.parametrize("number", numbers("PARTITA_MODEL_ATTEMPTS", 24))
def test_engine_and_model_agree_after_every_step(number):
    wander(number, steps=40, kind=AttemptHistory)
