"""What comes after is the same with and without what was pruned."""

import random

import pytest
from django.db import transaction

from core.models import DagRun, HeldRun, Partition
from tests.engine.pruning import DAY, prune
from tests.engine.world import IDENTITY, MINUTE, NOW, REGIONS, consumer, emit, finish, start, turn

pytestmark = pytest.mark.django_db


class TestWhatComesAfter:
    """Whether old records are there or not, the engine does the same from then on."""

    @pytest.mark.parametrize("late", ["settle", "immediate", "restart", "mark_stale"])
    @pytest.mark.parametrize("seed", range(2))
    def test_is_the_same_with_and_without_them(self, late, seed):
        outcomes = []
        for forgets in (False, True):
            with transaction.atomic():
                outcomes.append(self.play(random.Random(seed), late, forgets))
                transaction.set_rollback(True)
        assert outcomes[0] == outcomes[1]

    def play(self, dice, late, forgets):
        """Two years of regions that come again and again; at the end of the first, old records go or stay."""
        consumer("regions", {"a": REGIONS}, writes=["out"], late=late)
        consumer("copy", {"out": IDENTITY, "b": IDENTITY}, late=late)
        at = NOW
        seen = []
        for step in range(26):
            at += dice.choice([MINUTE, 30 * MINUTE, DAY])
            emit(
                *dice.choice([("a", "tw"), ("a", "jp"), ("a", "us"), ("b", "all"), ("a", "tw", "us")]), at=at
            )
            turn(at)
            for run in DagRun.objects.filter(state="queued"):
                claimed = start(run, at=at)
                finish(claimed, *(["out"] if run.dag.dag_id == "regions" else []), at=at)
            turn(at)
            if step == 14:
                at += 500 * DAY
                if forgets:
                    assert sum(prune(now=at).values()) > 5
            if step >= 14:
                open_runs = HeldRun.objects.held().order_by("dag__dag_id", "partition_key")
                seen += list(open_runs.values_list("dag__dag_id", "partition_key", "round", "sentence"))
                seen += list(
                    Partition.objects.order_by("asset__name", "key").values_list("key", "state", "is_stale")
                )
        seen += list(
            DagRun.objects.filter(queued_at__gt=at - 400 * DAY)
            .order_by("pk")
            .values_list("dag__dag_id", "partition_key", "queued_at")
        )
        return seen
