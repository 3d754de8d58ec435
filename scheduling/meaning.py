"""What a key that somebody typed means to a Dag, before anything is done with it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from core.models import Dag, DagRun, HeldRun
from scheduling import runs


@dataclass(frozen=True, slots=True)
class Meaning:
    """A key in words, its date, and what the Dag has of it already: its open held run, its latest run."""

    words: str
    date: datetime | None
    held: HeldRun | None
    latest: DagRun | None


def of_key(dag: Dag, key: str) -> Meaning:
    """What `key` means to `dag`. Three small queries at most.

    :raises InvalidKey: if it cannot be a key of this Dag; the sentence gives the right form.
    :raises NotPartitioned: if runs of `dag` have no key.
    """
    date = runs.date_of(dag, key)
    return Meaning(
        words=_words(date, _zone(dag)),
        date=date,
        held=HeldRun.objects.held().filter(dag=dag, partition_key=key).first(),
        latest=DagRun.objects.filter(dag=dag, partition_key=key).order_by("-pk").first(),
    )


def _zone(dag: Dag) -> ZoneInfo:
    """The zone that the Dag's cron, or the first mapper that has one, is written for."""
    return ZoneInfo(next(_timezones(dag.schedule), "UTC"))


def _timezones(spec: object) -> Iterator[str]:
    if isinstance(spec, list):
        for each in spec:
            yield from _timezones(each)
    if isinstance(spec, dict):
        if isinstance(spec.get("timezone"), str):
            yield spec["timezone"]
        for each in spec.values():
            yield from _timezones(each)


def _words(date: datetime | None, zone: ZoneInfo) -> str:
    if date is None:
        return "a key without a time in it"
    local = date.astimezone(zone)
    day = f"{local:%A} {local.day} {local:%B} {local.year}"
    if (local.hour, local.minute, local.second) == (0, 0, 0):
        return f"{day} ({zone.key})"
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day}, {clock} {zone.key}"
