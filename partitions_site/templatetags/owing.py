"""Who owes a key, and when it was expected.

Tags, as lists of held runs say it in every row, where an included template takes longer.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django import template
from django.utils.safestring import SafeString

from core.models import Dag, Sensor
from partitions_site.templatetags.markup import address, joined, markup
from partitions_site.templatetags.screens import ago, instants, some, state, when
from scheduling import board
from scheduling.expected import Owed

register = template.Library()

MOST_LISTED = 400
"""Keys of one list among others."""


@register.simple_tag
def owed(owing: Owed, now: datetime, with_key: bool = False) -> SafeString:
    """When a key that is not there was expected, and who owes it; `with_key`, which key that is."""
    key = markup('<span class="key">{}</span> ', owing.key) if with_key else ""
    return markup("{}{} · {}", key, _expected(owing, now), owers(owing, now))


@register.filter
def that_fit(keys: Sequence[str], room: int) -> Sequence[str]:
    """The first of `keys`: as many as have `room`, which is bytes as addresses have them."""
    shown = keys[:MOST_LISTED]
    return shown[: board.room_for(shown, room)]


@register.simple_tag
def untimed(owing: Owed) -> SafeString:
    """What there is to say of a key that is expected at no time."""
    title, words = owing.expected.words, instants(owing.untimed)
    return markup('<span class="quiet" title="{}">{}</span>', title, words)


@register.simple_tag
def owers(owing: Owed, now: datetime) -> SafeString:
    """Who owes a key, and how far they are."""
    if owing.dags:
        return markup("made by {}: {}", _listed(map(_dag, owing.dags)), _tried(owing))
    if owing.sensors:
        return markup("reported by {}", _listed(_sensor(each, now) for each in owing.sensors))
    if owing.asset:
        words = f"no Dag writes {owing.asset.name}: whoever reports it owes it"
    else:
        words = f"nothing defines {owing.leaf.words()}"
    return markup('<span class="quiet">{}</span>', words)


def _expected(owing: Owed, now: datetime) -> SafeString:
    at = owing.expected.at
    if at is None:
        return untimed(owing)
    gone = markup(", {}", ago(at, now)) if at < now else ""
    return markup('<span title="{}">expected {}{}</span>', owing.expected.words, when(at), gone)


def _listed(some: Iterable[SafeString]) -> SafeString:
    return joined(", ", some)


def _dag(dag: Dag) -> SafeString:
    paused = _tag("warn", "paused") if dag.is_paused else ""
    return markup('<a href="{}">{}</a>{}', address("dag", dag.dag_id), dag.dag_id, paused)


def _tried(owing: Owed) -> SafeString:
    """How far those are that make it."""
    if owing.attempt:
        page, look = address("run", owing.attempt.pk), state(owing.attempt.state)
    elif owing.held:
        page, look = address("held_run", owing.held.pk), state("held")
    else:
        return markup('<span class="quiet">{}</span>', "not tried yet")
    return markup('<a href="{}">{}</a>', page, look)


def _sensor(sensor: Sensor, now: datetime) -> SafeString:
    if sensor.is_paused:
        standing = _tag("warn", "paused")
    elif sensor.problem:
        standing = _tag("bad", "cannot look")
    elif sensor.failures:
        standing = _tag("bad", f"failed {some(sensor.failures, 'time')}")
    else:
        standing = markup(' <span class="quiet">looked {}</span>', ago(sensor.looked_at, now))
    return markup('sensor <a href="{}">{}</a>{}', address("sensor", sensor.name), sensor.name, standing)


def _tag(look: str, words: str) -> SafeString:
    return markup(' <span class="tag {}">{}</span>', look, words)
