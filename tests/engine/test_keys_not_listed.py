"""Mappers whose upstream keys nobody can list: keys count that came since the Dag listens."""

import pytest

from core.models import DagRun
from tests.engine.world import IDENTITY, NOW, consumer, emit, fired, held, turn

pytestmark = pytest.mark.django_db

FIXED = {"type": "FixedKeyMapper", "downstream_key": "all"}
PREFIX = {"type": "ProductMapper", "mappers": [IDENTITY, FIXED]}


def consumed():
    return set(
        DagRun.objects.get()
        .held_runs.get()
        .consumed.values_list("event__asset__name", "event__partition_key")
    )


@pytest.mark.parametrize(
    ("mapper", "upstream", "key"),
    [(FIXED, ["x", "y", "z"], "all"), (PREFIX, ["tw|x", "tw|y", "tw|z"], "tw|all")],
)
class TestWhatCame:
    def test_before_does_not_count(self, mapper, upstream, key):
        emit("a", upstream[0])
        turn()
        consumer("joined", {"a": mapper, "b": IDENTITY})
        emit("b", key)
        turn()
        assert fired("joined") == []
        assert held("joined", key).sentence == "waiting on a (any key that maps here)"
        emit("a", upstream[1])
        turn()
        assert consumed() == {("a", upstream[1]), ("b", key)}

    def test_since_then_counts_all_of_it(self, mapper, upstream, key):
        consumer("joined", {"a": mapper, "b": IDENTITY})
        for each in upstream:
            emit("a", each)
            turn(NOW)
        assert fired("joined") == []
        emit("b", key)
        turn()
        assert consumed() == {("b", key), *(("a", each) for each in upstream)}
