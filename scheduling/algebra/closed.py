"""What an asset is defined to have, where nobody adds to it: by that, some keys never come."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduling.algebra.mappers import Mapper
from scheduling.algebra.partitions import Partitions

MOST_ASKED = 4000
"""Of more missing keys than that only the first and the last are asked for: definitions begin and end."""


@dataclass(frozen=True, slots=True)
class Closed:
    """`definition` has no dynamic partitions. `is_made`: whether a tick makes a key, defined or not."""

    definition: Partitions
    is_made: Callable[[str], bool]

    def never(self, mapper: Mapper, keys: Sequence[str]) -> tuple[str, ...]:
        """Those of `keys` as which nothing that the asset is to have will ever count."""
        half = MOST_ASKED // 2
        asked = keys if len(keys) <= MOST_ASKED else (*keys[:half], *keys[-half:])
        return tuple(key for key in asked if not (self._has(mapper, key) or self.is_made(key)))

    def _has(self, mapper: Mapper, key: str) -> bool:
        return any(each == key or mapper.counts_as(each) == key for each in self.definition.akin(key))
