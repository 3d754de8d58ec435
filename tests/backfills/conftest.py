"""Chains of Dags to be backfilled."""

import pytest

from tests.backfills.play import daily, hourly, listener, producer
from tests.engine.world import HOURS_TO_DAY


@pytest.fixture
def copies():
    """A Dag that writes days, and two that copy them one after the other."""
    daily("as"), daily("bs"), daily("cs")
    first = producer("first", "as")
    listener("second", "as", "bs")
    listener("third", "bs", "cs")
    return first


@pytest.fixture
def hour():
    """A Dag that writes hours, and one that makes a day of 24 of them."""
    hourly("hours", "2026-03-09", key_format="%Y-%m-%dT%H:%M:%S")
    daily("days")
    made = producer("hour", "hours", max_active_runs=1000)
    listener("day", "hours", "days", HOURS_TO_DAY)
    return made
