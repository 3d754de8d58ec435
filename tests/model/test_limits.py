"""Dags crowd a pool: engine and model must agree on what may start, and that nothing else waits for it.

`PARTITA_MODEL_LIMITS` asks for more, `PARTITA_MODEL_FIRST` for those from a number on.
"""

import pytest

from tests.model.limiting import LimitHistory
from tests.model.wandering import numbers, wander

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(0)]


@pytest.mark.parametrize("number", numbers("PARTITA_MODEL_LIMITS", 9))
def test_engine_and_model_agree_after_every_step(number):
    wander(number, steps=40, kind=LimitHistory)
