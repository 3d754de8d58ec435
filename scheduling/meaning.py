"""What a key that somebody typed means to a Dag, before anything is done with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.models import Asset, Dag, DagRun, HeldRun
from scheduling import asset_keys, runs
from scheduling.algebra.errors import PartitionError
from scheduling.asset_keys import AssetKey, in_words


@dataclass(frozen=True, slots=True)
class Meaning:
    """A key in words, its date, and what the Dag has of it already: its open held run, its latest run.

    `words` are empty where nobody can tell. `doubts`: a sentence for each reason to ask whether it is meant.
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
    def is_good(self) -> bool:
        """Every key is known for what it is, and there is no doubt about any."""
        return bool(self.typed) and all(
            each.meaning and each.meaning.words and not each.meaning.doubts for each in self.typed
        )

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
    meant = _meant(dag, key, now)
    latest = DagRun.objects.filter(dag=dag, partition_key=key).order_by("-pk").first()
    return Meaning(
        words=in_words(key, date, dag.schedule)
        if date
        else next((each.words for each in meant.values()), ""),
        date=date,
        held=HeldRun.objects.held().filter(dag=dag, partition_key=key).first(),
        latest=latest,
        doubts=tuple(dict.fromkeys(_doubts(dag, date, latest, meant, now))),
    )


def _typed(dag: Dag, key: str, now: datetime) -> Typed:
    try:
        return Typed(key, of_key(dag, key, now=now))
    except PartitionError as error:
        return Typed(key, wrong=str(error))


def _meant(dag: Dag, key: str, now: datetime) -> dict[Asset, AssetKey]:
    """What `key` means to each asset with a definition that `dag` writes."""
    written = Asset.objects.filter(outlets__dag=dag, partitions__isnull=False).distinct().order_by("name")
    return {asset: asset_keys.of_key(asset, key, now=now) for asset in written}


def _doubts(
    dag: Dag, date: datetime | None, latest: DagRun | None, meant: Mapping[Asset, AssetKey], now: datetime
) -> Iterator[str]:
    if latest and latest.state not in DagRun.FINISHED:
        yield f"a run for it is {latest.state} already"
    if date and date > now and not any(each.words and not each.doubt for each in meant.values()):
        yield "its period has not begun yet"
    for asset, each in meant.items():
        if each.doubt and each.words:
            yield each.doubt
        elif each.doubt:
            yield f"it is none of the keys that {asset.name}, which {dag} writes, should have"
