"""What a key that somebody typed means to a Dag, before anything is done with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from core.models import Asset, Dag, DagRun, HeldRun
from scheduling import dynamic, runs
from scheduling.algebra.errors import PartitionError
from scheduling.board.labels import DAY, label_of, segments_of


@dataclass(frozen=True, slots=True)
class Meaning:
    """A key in words, its date, and what the Dag has of it already: its open held run, its latest run.

    `doubts`: a sentence for each reason to ask whether somebody means it.
    """

    words: str
    date: datetime | None
    held: HeldRun | None
    latest: DagRun | None
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Typed:
    """One typed key and what it means, or why it means nothing."""

    key: str
    meaning: Meaning | None = None
    wrong: str = ""


@dataclass(frozen=True, slots=True)
class Means:
    """What several typed keys mean."""

    typed: tuple[Typed, ...]

    @property
    def wrong(self) -> str:
        """Why the first that means nothing means nothing."""
        return next((each.wrong for each in self.typed if each.wrong), "")

    @property
    def doubt(self) -> str:
        """The first reason to ask whether somebody means it, with its key."""
        known = ((each.key, each.meaning) for each in self.typed if each.meaning)
        return next((f"{key}: {meaning.doubts[0]}" for key, meaning in known if meaning.doubts), "")

    @property
    def held(self) -> HeldRun | None:
        return next((each.meaning.held for each in self.typed if each.meaning and each.meaning.held), None)


def of_keys(dag: Dag, keys: Sequence[str], *, now: datetime) -> Means:
    """What each of `keys` means to `dag`, or why it cannot be one of its keys."""
    return Means(tuple(_typed(dag, key, now) for key in keys))


def of_key(dag: Dag, key: str, *, now: datetime) -> Meaning:
    """What `key` means to `dag`. Four small queries at most.

    :raises InvalidKey: if it cannot be a key of this Dag; the sentence gives the right form.
    :raises NotPartitioned: if runs of `dag` have no key.
    """
    date = runs.date_of(dag, key)
    latest = DagRun.objects.filter(dag=dag, partition_key=key).order_by("-pk").first()
    return Meaning(
        words=_words(key, date, _zone(dag)),
        date=date,
        held=HeldRun.objects.held().filter(dag=dag, partition_key=key).first(),
        latest=latest,
        doubts=tuple(_doubts(dag, key, date, latest, now)),
    )


def _typed(dag: Dag, key: str, now: datetime) -> Typed:
    try:
        return Typed(key, of_key(dag, key, now=now))
    except PartitionError as error:
        return Typed(key, wrong=str(error))


def _doubts(dag: Dag, key: str, date: datetime | None, latest: DagRun | None, now: datetime) -> Iterator[str]:
    if latest and latest.state not in DagRun.FINISHED:
        yield f"a run for it is {latest.state} already"
    if date and date > now:
        yield "its period has not begun yet"
        return
    written = Asset.objects.filter(outlets__dag=dag, partitions__isnull=False).distinct().order_by("name")
    for asset in written:
        if not dynamic.expects(asset, key, now):
            yield f"it is none of the keys that {asset.name}, which {dag} writes, should have"


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


def _words(key: str, date: datetime | None, zone: ZoneInfo) -> str:
    """The date in the zone of the Dag; at midnight with its time where the key has one, too."""
    if date is None:
        return "a key without a time in it"
    local = date.astimezone(zone)
    day = f"{local:%A} {local.day} {local:%B} {local.year}"
    has_clock = any(len(label_of(each)) > DAY for each in segments_of(key))
    if (local.hour, local.minute, local.second) == (0, 0, 0) and not has_clock:
        return f"{day} ({zone.key})"
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{day}, {clock} {zone.key}"
