"""Mappers that need to know which keys there are, or which is the newest."""

import pytest

from core.models import HeldRun
from scheduling import holds
from tests.engine.world import (
    IDENTITY,
    NOW,
    consumer,
    emit,
    fired,
    turn,
)

pytestmark = pytest.mark.django_db


class TestMappersThatNeedToKnow:
    ALL = {"type": "AllPartitionsMapper"}

    def test_a_consumer_defined_later_sees_all_that_is_there(self):
        emit("a", "x", "y")
        turn()
        consumer("everything", {"a": self.ALL})
        emit("a", "z")
        turn()
        assert fired("everything") == ["all"]
        assert HeldRun.objects.get().consumed.count() == 3

    def test_the_newest_of_keys_without_a_date_is_the_one_seen_last(self):
        consumer("latest", {"a": {"type": "LatestPartitionMapper"}, "b": IDENTITY})
        emit("a", "zebra")
        emit("a", "ant")
        emit("b", "latest")
        turn()
        assert fired("latest") == ["latest"]
        [progress, _] = holds.assess([HeldRun.objects.get()], now=NOW)[HeldRun.objects.get().pk].progress
        assert progress.required == ("ant",)
