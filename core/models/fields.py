"""Field shapes that several tables share."""

from typing import Any

from django.db import models

KEY_LENGTH = 250
"""Longest partition key, in code points (semantics, section 1)."""


def key_field(**options: Any) -> "models.CharField[str, str]":
    """A partition key: compared byte for byte, whatever the locale of the database."""
    return models.CharField(max_length=KEY_LENGTH, **options)


def optional_key_field() -> "models.CharField[str | None, str | None]":
    """A partition key, or none. None is not the empty key, which no partition has."""
    return models.CharField(max_length=KEY_LENGTH, null=True)


def name_field(**options: Any) -> "models.CharField[str, str]":
    return models.CharField(max_length=500, **options)
