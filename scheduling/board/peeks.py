"""What one sees of a partition without opening it: when its data came, its latest attempt, its numbers."""

from dataclasses import dataclass

from core.models import Asset, Partition
from scheduling.board.heat import number, numbers_of

MOST_NUMBERS = 6


@dataclass(frozen=True, slots=True)
class Peek:
    """`partition` is none where nothing has come. `numbers` are the first of its extra, as people write."""

    partition: Partition | None
    numbers: list[tuple[str, str]]


def peek(asset: Asset, key: str) -> Peek:
    """One query."""
    row = Partition.objects.filter(asset=asset, key=key).select_related("attempt_run__dag").first()
    found = list(numbers_of(row.extra).items()) if row else []
    return Peek(row, [(name, number(value)) for name, value in found[:MOST_NUMBERS]])
