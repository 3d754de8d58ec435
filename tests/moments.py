"""Instants out of a few words."""

from datetime import UTC, datetime


def utc(text: str) -> datetime:
    """The instant at which clocks in UTC show `text`, as ISO 8601 without an offset."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
