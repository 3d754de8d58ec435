"""A list of which one page shows some rows, by their place in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Excerpt(Generic[T]):
    """Rows from the `first` on, of `count`. The next ones begin at `next`; at 0, if there are none."""

    rows: Sequence[T]
    count: int
    first: int = 0

    @property
    def last(self) -> int:
        return self.first + len(self.rows)

    @property
    def next(self) -> int:
        return self.last if self.last < self.count else 0
