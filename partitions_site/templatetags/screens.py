"""How instants, ages, counts and states look. No queries."""

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

from django import template
from django.utils import timezone
from django.utils.safestring import SafeString

from core.models import DagRun
from partitions_site.templatetags.lines import whole
from partitions_site.templatetags.markup import joined, markup
from scheduling.board import Look
from scheduling.configuration.assets import DEFAULT_GROUP
from scheduling.masking import masked

register = template.Library()
register.filter("masked", masked)

WRITTEN = re.compile(r"\b([0-9]{4}-[01][0-9]-[0-3][0-9] [0-2][0-9]:[0-5][0-9](?::[0-5][0-9])?) UTC\b")
"""An instant in a sentence of the engine."""

LONG = 30_000
"""Bytes of a text that a page shows unasked."""

UNITS = (("d", 86_400), ("h", 3600), ("min", 60), ("s", 1))

PICTURED = {
    "success": "materialized",
    "waiting": "held",
    "settling": "held",
    "paused": "missing",
    "ready": "running",
    "unreachable": "failed",
    "broken": "failed",
    "started": "running",
    "done": "materialized",
    "blocked": "failed",
    "cancelling": "running",
    "found": "materialized",
    "nothing": "skipped",
}
"""Which of the pictures of a partition's state another state borrows."""

LETTERS = {"queued": "u", "cancelled": "z", "skipped": "k"}
"""The squares of states that a partition has not."""


@register.simple_tag
def when(instant: datetime | None, absent: str = "never") -> SafeString | str:
    """An instant with its zone; the title gives it in UTC and zone.js the reader's own zone."""
    if instant is None:
        return absent
    here = timezone.localtime(instant)
    return markup(
        '<time datetime="{}" title="{} UTC" tabindex="-1">{} <small>{}</small></time>',
        instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        f"{instant.astimezone(UTC):%A %-d %B %Y, %H:%M:%S}",
        f"{here:%Y-%m-%d %H:%M:%S}",
        zone_name(here),
    )


@register.filter
def instants(sentence: str) -> SafeString:
    """A sentence in which each instant, written in UTC, follows the reader's zone, and keys are whole."""
    pieces = WRITTEN.split(sentence)
    shown = [_instant(piece) if number % 2 else whole(piece) for number, piece in enumerate(pieces)]
    return joined("", shown)


@register.simple_tag
def ago(instant: datetime | None, now: datetime, absent: str = "never") -> SafeString | str:
    """How long ago; the title gives the instant."""
    if instant is None:
        return absent
    here = timezone.localtime(instant)
    return markup(
        '<time datetime="{}" title="{} {}" tabindex="-1">{}</time>',
        instant.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        f"{here:%Y-%m-%d %H:%M:%S}",
        zone_name(here),
        age(instant, now),
    )


def age(instant: datetime, now: datetime) -> str:
    """`3 h 12 min ago`, to the minute: a page that says nothing new stays the same bytes."""
    gone = now - instant
    if gone < timedelta(0):
        ahead = timedelta(minutes=-gone // timedelta(minutes=1))
        return f"in {span(ahead)}" if ahead else "within a minute"
    return (
        "just now"
        if gone < timedelta(minutes=1)
        else f"{span(gone - timedelta(seconds=gone.seconds % 60))} ago"
    )


@register.filter
def span(length: timedelta | None) -> str:
    """A length of time in its two largest units: `2 h 5 min`."""
    if length is None:
        return ""
    left = length.total_seconds()
    if left < 1:
        return f"{left * 1000:.0f} ms"
    words: list[str] = []
    for name, size in UNITS:
        if left >= size or (words and len(words) < 2):
            count, left = int(left // size), left % size
            words.append(f"{count} {name}" if count else "")
        if len(words) == 2:
            break
    return " ".join(word for word in words if word)


@register.simple_tag
def took(started_at: datetime | None, ended_at: datetime | None) -> str:
    """How long something ran; empty while nobody can say."""
    return span(ended_at - started_at) if started_at and ended_at else ""


@register.simple_tag
def state(name: str, words: str = "") -> SafeString:
    """A state as its picture and its word: never by colour alone."""
    return markup('<span class="state s-{}">{}</span>', PICTURED.get(name, name), words or name)


@register.filter(name="json")
def as_json(value: Any) -> str:
    """A stored JSON value as it would be written."""
    return json.dumps(value, ensure_ascii=False, default=str)


@register.filter
def is_long(text: str) -> bool:
    """Whether a page shows a text only to those who ask for it."""
    return len(text.encode()) > LONG


@register.filter
def plain(value: Any) -> str:
    """A stored value in words: lists as their items, mappings as sorted names with values, yes for true."""
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {plain(each)}" for name, each in sorted(value.items()))
    return ", ".join(map(plain, value)) if isinstance(value, list) else str(value)


@register.filter
def said(name: str) -> str:
    """A field's name as words."""
    return name.replace("_", " ")


@register.filter
def pictured(name: str) -> str:
    """The picture of a key of a backfill: one that is ready has not begun."""
    return "missing" if name == "ready" else PICTURED.get(name, name)


@register.filter
def standing_picture(standing: str) -> str:
    """The picture of how a partition stands with its Dag."""
    borrowed = {"awaited": "missing", "scheduled": "missing", "passed over": "missing", "by hand": "missing"}
    return {"never": "failed", **borrowed}.get(standing, standing)


@register.filter
def picture(name: str) -> str:
    """The class of the square that a state has in a grid."""
    shown = pictured(name)
    return LETTERS.get(shown) or Look[shown.upper()].letter


@register.filter
def thousands(number: int | None) -> str:
    """12 345 with a thin space, as long numbers are written in tables."""
    return "" if number is None else f"{number:,}".replace(",", "\u202f")


@register.filter
def some(count: int, noun: str) -> str:
    """`1 run`, `2 runs`; for an odd plural `"query,queries"`."""
    one, _, many = noun.partition(",")
    return f"{thousands(count)} {one if count == 1 else many or one + 's'}"


@register.filter
def group_words(group: str) -> str:
    """A group of assets by its name; that of assets whose file names none is no name."""
    return "no group" if group == DEFAULT_GROUP else group


@register.filter
def last_line(text: str) -> str:
    """What a traceback says in the end."""
    lines = text.strip().splitlines()
    return lines[-1] if lines else ""


@register.filter
def for_keys(run: DagRun) -> str:
    """What a run is for: its key, the range of its keys, or none."""
    keys = run.keys
    if len(keys) > 1:
        return f"{len(keys)} keys, {keys[0]} to {keys[-1]}"
    return keys[0] if keys else "no key"


@register.filter
def percent(share: float) -> str:
    """A share of one as SVG takes it, whatever the locale: `12.5%`."""
    return f"{100 * share:.4g}%"


def zone_name(instant: datetime) -> str:
    """The zone's short name, or the offset where the zone only has a number for a name."""
    name = instant.tzname() or ""
    return name if name[:1].isalpha() else f"UTC{name}"


def _instant(written: str) -> SafeString | str:
    try:
        return when(datetime.fromisoformat(written).replace(tzinfo=UTC))
    except ValueError:
        return f"{written} UTC"
