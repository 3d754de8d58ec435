"""What an entry of the journal says beside its own columns."""

from collections.abc import Iterator
from typing import Any

from django import template

from core.models import JournalEntry
from partitions_site.templatetags.screens import plain, said
from scheduling.algebra.differences import Difference, differences

register = template.Library()

COLUMNS = frozenset({"assets", "backfill", "revision"})
"""What is shown elsewhere, or says nothing to a reader."""

FOLLOWS = frozenset({"is_partitioned", "is_periodic"})
"""Columns that change with a schedule and only with it."""


@register.filter
def changes(entry: JournalEntry) -> tuple[Difference, ...]:
    """Where the schedule that it tells of differs from the one before; none if it tells of no schedule."""
    return differences(entry.extra.get("was"), entry.extra.get("now")) if _tells_of_schedules(entry) else ()


@register.filter
def extras(entry: JournalEntry) -> Iterator[tuple[str, str]]:
    """The name and the value, in words, of what else it says; nothing of what is false or empty."""
    left_out = COLUMNS | ({"was", "now"} if _tells_of_schedules(entry) else frozenset())
    for name, value in entry.extra.items():
        words = _words(name, value) if name not in left_out else ""
        if words:
            yield said(name), words


def _words(name: str, value: Any) -> str:
    if not value:
        return ""
    if name == "changed" and isinstance(value, list):
        return ", ".join(said(str(each)) for each in value if each not in FOLLOWS)
    return plain(value)


def _tells_of_schedules(entry: JournalEntry) -> bool:
    parts = (entry.extra.get("was"), entry.extra.get("now"))
    return any(isinstance(part, dict) and "type" in part for part in parts)
