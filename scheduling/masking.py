"""Secrets that somebody put where they do not belong are not kept, and not shown."""

from functools import lru_cache
from typing import Any

MASK = "***"
SECRETS = (
    "access_key",
    "access_token",
    "api_key",
    "apikey",
    "authorization",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "private_key",
    "secret",
    "token",
)
"""Texts under names that contain one of these are masked, on the way in and on the way out."""


LEVELS = 50
"""What nests deeper than anything that is kept is left out: a row of old must not break the list it is in."""


def masked(value: Any, levels: int = LEVELS) -> Any:
    """`value` with every text that stands under a name of `SECRETS` replaced."""
    if levels < 0:
        return MASK
    if isinstance(value, dict):
        return {
            name: (_hidden if isinstance(name, str) and _is_secret(name) else masked)(each, levels - 1)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [masked(each, levels - 1) for each in value]
    return value


@lru_cache(maxsize=10_000)
def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in SECRETS)


def _hidden(value: Any, levels: int) -> Any:
    if isinstance(value, str) or levels < 0:
        return MASK
    if isinstance(value, list | tuple):
        return [_hidden(each, levels - 1) for each in value]
    return masked(value, levels)
