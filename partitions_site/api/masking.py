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


def masked(value: Any) -> Any:
    """`value` with every text that stands under a name of `SECRETS` replaced."""
    if isinstance(value, dict):
        return {
            name: _hidden(each) if isinstance(name, str) and _is_secret(name) else masked(each)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [masked(each) for each in value]
    return value


@lru_cache(maxsize=10_000)
def _is_secret(name: str) -> bool:
    return any(word in name.lower() for word in SECRETS)


def _hidden(value: Any) -> Any:
    if isinstance(value, str):
        return MASK
    if isinstance(value, list):
        return [_hidden(each) for each in value]
    return masked(value)
