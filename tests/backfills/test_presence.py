"""An asset without partitions that has had an event is there for every key, in backfills as elsewhere."""

import pytest

from core.models import DagRun
from scheduling.algebra.errors import InvalidKey
from scheduling.backfills import NothingToBackfill
from tests.backfills.play import begin, drive, keys
from tests.engine.world import IDENTITY, consumer, emit

pytestmark = pytest.mark.django_db


@pytest.fixture
def joined():
    """It needs a partition of `a`, and `exchange_rates` as they are."""
    return consumer("joined", {"a": IDENTITY, "exchange_rates": IDENTITY}, writes=["out"])


class TestAnAssetWithoutPartitions:
    def test_is_there_for_every_key_once_it_has_had_an_event(self, joined):
        emit("a", "k", "l")
        emit("exchange_rates", None)
        assert keys(joined, keys=("k", "l")) == ["k", "l"]

    def test_is_missing_before(self, joined):
        emit("a", "k")
        assert keys(joined, keys=("k",)) == []
        with pytest.raises(NothingToBackfill, match="its upstream is not complete"):
            begin(joined, keys=("k",))

    def test_does_not_stand_in_for_what_has_partitions(self, joined):
        emit("a", "l")
        emit("exchange_rates", None)
        assert keys(joined, keys=("k", "l")) == ["l"]

    def test_is_not_one_that_has_any(self, joined):
        emit("a", "k")
        emit("exchange_rates", None)
        emit("exchange_rates", "l")
        assert keys(joined, keys=("k",)) == []

    def test_does_not_make_a_key_out_of_one_that_no_run_can_have(self):
        """Refused as a trigger of that key is, and not only when its run is to start."""
        latest = consumer(
            "latest", {"a": IDENTITY, "b": {"type": "LatestPartitionMapper", "downstream_key": "all"}}
        )
        emit("a", None), emit("b", None)
        with pytest.raises(InvalidKey, match="all"):
            begin(latest, keys=("2026-03-10",))

    def test_lets_the_backfill_run_once(self, joined):
        emit("a", "k")
        emit("exchange_rates", None)
        drive(begin(joined, keys=("k",)))
        assert [run.run_type for run in DagRun.objects.all()] == ["backfill"]
