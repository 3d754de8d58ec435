"""What is wrong with definitions, found without keeping anything: for a check before they are rolled out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from core.models import Dag, DefinitionSource
from scheduling import definitions

CODES = {
    "file": "A file of definitions cannot be loaded, or what it says contradicts another one",
    "refused": "A Dag is not written: what it says cannot be",
    "unreadable": "A stored timetable or partitions definition cannot be read",
    "never-fires": "The keys that a Dag waits for can never meet, or are never emitted",
    "agreement": "Some of its keys can never meet, or are never emitted",
    "agreement-unknown": "Whether its keys can meet cannot be told",
    "policy-unreachable": "A wait policy asks for more than some periods have",
    "keyed-events": "A Dag that is not partition-aware listens: events with a key do not start it",
    "hours-lost": "A key format gives two hours of an autumn night one name",
    "unexpected-keys": "A Dag writes keys that the definition of an asset it writes does not have",
    "keyless-runs": "A Dag writes an asset with partitions, and its runs have no partition key",
    "undefined-asset": "A Dag listens to an asset that nothing defines",
    "unheard-asset": "A Dag listens to an asset that nobody writes or has reported, named nearly as another",
    "asset-twice": "A schedule names one asset twice",
    "circle": "Assets and Dags listen in a circle",
    "pool-too-small": "A run takes more slots than its pool has",
    "warnings-unknown": "What may surprise cannot be told",
    "warning": "Something else that may surprise",
}
"""The code of each kind of finding, for scripts; a code keeps its meaning."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: of a Dag, or of a file. `level` is error or warning."""

    code: str
    level: str
    subject: str
    sentence: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Checked:
    """How much was looked at, and what was found; errors come first."""

    files: int
    dags: int
    findings: tuple[Finding, ...]


def check(sources: Sequence[str], *, at: datetime) -> Checked:
    """Load the definition files of `sources` as if they were all there is, and write nothing.

    What this installation knows beside them, such as keys that were seen, counts as evidence.
    """
    with transaction.atomic():
        report = definitions.sync(sources, at=at)
        found = sorted([*_of_files(at), *_of_dags()], key=lambda each: (each.level != "error", each.subject))
        transaction.set_rollback(True)
    return Checked(report.files, report.dags, tuple(found))


def _of_files(at: datetime) -> Iterator[Finding]:
    for source in DefinitionSource.objects.filter(loaded_at=at).exclude(error=""):
        yield Finding("file", "error", source.name, source.error, source.error_line)


def _of_dags() -> Iterator[Finding]:
    for dag in Dag.objects.active().exclude(problems=[]):
        for each in dag.problems:
            yield Finding(each["code"], each["level"], dag.dag_id, each["sentence"])
