"""Replays days of the readings, and says what came of them."""

from collections import Counter
from datetime import UTC, date, datetime

from core.models import DagRun, HeldRun
from scheduling import demo
from scheduling.demo import parts
from tests.engine.world import ALICE

FLAWED = date(2010, 3, 14)


def now() -> datetime:
    return datetime.now(UTC)


def replay(days: list[date]) -> None:
    demo.replay(parts(days), deed=ALICE, at=now())
    settle()
    assert demo.is_settled()


def settle() -> None:
    """Let the engine go on until it finds nothing to do."""
    while demo.turn(worker="test", clock=now):
        pass


def ended() -> Counter[tuple[str, str | None]]:
    """(dag_id, key) of every run there is; all of them must have succeeded at the first attempt."""
    found = DagRun.objects.filter(dag__dag_id__in=demo.DAGS)
    assert not found.exclude(state="success", attempt=1).exists()
    return Counter(found.values_list("dag__dag_id", "partition_key"))


def held() -> dict[tuple[str, str], str]:
    return {(row.dag.dag_id, row.partition_key): row.sentence for row in HeldRun.objects.held()}
