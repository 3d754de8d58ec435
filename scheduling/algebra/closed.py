"""What an asset is defined to have, where nobody adds to it: by that, some keys never come."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.partitions import Partitions

MOST_ASKED = 4000
"""Of more missing keys than that only the first and the last are asked for: definitions begin and end."""

MOST_TRIED = 500
"""Of longer definitions it is not asked which of their keys map to a key."""


@dataclass(frozen=True, slots=True)
class Closed:
    """`definition` has no dynamic partitions. `is_made`: whether a tick makes a key, defined or not.

    `is_timed`: whether there are ticks that make any.
    """

    definition: Partitions
    is_made: Callable[[str], bool]
    is_timed: bool = False

    def never(self, mapper: Mapper, keys: Sequence[str]) -> tuple[str, ...]:
        """Those of `keys` as which nothing that the asset is to have will ever count."""
        half = MOST_ASKED // 2
        asked = keys if len(keys) <= MOST_ASKED else (*keys[:half], *keys[-half:])
        return tuple(key for key in asked if not (self._has(mapper, key) or self.is_made(key)))

    def one_for(self, mapper: Mapper, downstream: str) -> str | None:
        """A key that the asset is to have and that maps to `downstream`; empty if it is to have none such.

        None where nobody knows: there are too many keys, or ticks make others.
        """
        one, definition = mapper.representative(downstream), self.definition
        if one and self.is_made(one):
            return one
        for key in definition.akin(one) if one else ():
            if _maps(mapper, key, downstream):
                return key
        if definition.grows or definition.count() > MOST_TRIED:
            return None
        listed = definition.keys()
        found = (key for key in listed if _maps(mapper, key, downstream))
        return next(found, None if self.is_timed else "")

    def _has(self, mapper: Mapper, key: str) -> bool:
        return any(each == key or mapper.counts_as(each) == key for each in self.definition.akin(key))


def _maps(mapper: Mapper, key: str, downstream: str) -> bool:
    try:
        return downstream in mapper.to_downstream(key)
    except PartitionError:
        return False
