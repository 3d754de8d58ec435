"""How much of a list has room on one page: 250 characters of a key may be 3 KB in an address."""

from collections.abc import Iterable
from urllib.parse import quote

MOST_WRITTEN = 90_000
"""Bytes of the keys of one page, as addresses have them."""

MOST_OF_A_GRID = 32_000
"""The same of a grid that shows them with their names: each is written four times."""


def room_for(keys: Iterable[str], most: int = MOST_WRITTEN) -> int:
    """How many of `keys`, and at least one, are `most` bytes as addresses have them."""
    total = count = 0
    for key in keys:
        total += written(key)
        if total > most and count:
            break
        count += 1
    return count


def written(key: str) -> int:
    """Bytes of a key, as addresses have it."""
    return len(quote(key, safe=""))
