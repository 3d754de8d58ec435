"""What is wrong with a Dag, for its page: errors keep it from ever working, warnings may surprise."""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from django.db.models import QuerySet

from core.models import Asset, Dag
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.period_keys import between
from scheduling.configuration import unexpected
from scheduling.configuration.agreeing import Span, World

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` for programs, `sentence` for the person who can mend it."""

    code: str
    level: Literal["error", "warning"]
    sentence: str


FOUND_ANEW = frozenset(
    {
        *("never-fires", "agreement", "agreement-unknown", "circle"),
        *("warning", "unreadable", "warnings-unknown"),
        *("hours-lost", "policy-unreachable", "keyed-events", "unexpected-keys", "unheard-asset"),
        "keyless-runs",
    }
)
"""Codes of what is found by looking at what is written."""

OF_LINKS = frozenset({"undefined-asset", "asset-twice"})


def note_problems(dags: Iterable[Dag], found: Mapping[int, list[Problem]], at: datetime) -> None:
    """Write the problems of each of `dags`: those in `found`, by primary key, and those that show only now.

    Now all are written, so that each can be looked at beside those that feed it.
    """
    world = World()
    _write((dag, _shown(dag, found.get(dag.pk, ()), world, at)) for dag in dags)


def renote_problems(dag: Dag, of_links: Iterable[Problem], at: datetime) -> None:
    """Look again at `dag`, which listens otherwise than before, and at all that what it writes feeds."""
    _write(problems_around(dag, of_links, World(), at))


def problems_around(
    dag: Dag, of_links: Iterable[Problem], world: World, at: datetime
) -> list[tuple[Dag, list[Problem]]]:
    """The problems that `dag` has in `world`, and those that each has that it feeds; reads only.

    What was found by reading their files, and cannot be found anew here, they keep.
    """
    around = [(dag, [*of_links, *_kept(dag, FOUND_ANEW | OF_LINKS)])]
    around += [(each, _kept(each, FOUND_ANEW)) for each in world.followers(dag)]
    return [(each, _shown(each, kept, world, at)) for each, kept in around]


def _write(found: Iterable[tuple[Dag, list[Problem]]]) -> None:
    changed = []
    for dag, shown in found:
        problems = [asdict(problem) for problem in shown]
        if dag.problems != problems:
            dag.problems = problems
            changed.append(dag)
    Dag.objects.bulk_update(changed, ["problems"])


def _kept(dag: Dag, but: Collection[str]) -> list[Problem]:
    return [Problem(**each) for each in dag.problems if each["code"] not in but]


def _shown(dag: Dag, found: Iterable[Problem], world: World, at: datetime) -> list[Problem]:
    shown = (
        *found,
        *_of_agreement(dag, world),
        *_of_circles(dag, world),
        *_of_names(dag, world),
        *_of_definition(dag, world, at),
        *_of_outlets(dag, world, at),
        *_of_keyless(dag),
    )
    return list(dict.fromkeys(shown))


def _of_agreement(dag: Dag, world: World) -> Iterator[Problem]:
    try:
        findings = world.findings(dag)
    except Exception as error:  # a plug-in's mapper may raise anything; it spoils this Dag's page only
        log.exception("the agreement of %s cannot be told", dag)
        sentence = f"whether its keys can meet cannot be told: {type(error).__name__}: {error}"
        yield Problem("agreement-unknown", "warning", sentence)
        return
    for finding in findings:
        if finding.severity == "error":
            yield Problem("never-fires", "error", finding.sentence)
        elif finding.severity == "warning":
            yield Problem("agreement", "warning", finding.sentence)


def _of_circles(dag: Dag, world: World) -> Iterator[Problem]:
    if circle := " → ".join(world.circle(dag)):
        sentence = f"its runs may start it again for ever: {circle}"
        yield Problem("circle", "warning", sentence)


def _of_names(dag: Dag, world: World) -> Iterator[Problem]:
    for name, meant in world.unheard(dag):
        sentence = f"it listens to {name}, which no Dag writes and nobody has reported: did you mean {meant}?"
        yield Problem("unheard-asset", "warning", sentence)


def _of_definition(dag: Dag, world: World, at: datetime) -> list[Problem]:
    """What its timetable, for the keys it listens to, and the definitions of what it writes may surprise."""
    outlets = dag.outlets.exclude(asset__partitions=None).select_related("asset").order_by("asset__name")
    found = _of_spec("", dag.schedule, "timetable", at, world.span(dag)) if dag.schedule else []
    for each in outlets:
        found += _of_spec(f"{each.asset.name}: ", each.asset.partitions, "partitions", at)
    return found


def _of_outlets(dag: Dag, world: World, at: datetime) -> Iterator[Problem]:
    """What it writes that its outlets are not expected to have; what cannot be read is said elsewhere.

    Where the code may name the keys that it writes, nobody knows which those are.
    """
    for asset in _unnamed(dag):
        try:
            sentence = unexpected.sentence(dag, *world.writing(dag), asset, at)
        except PartitionError:
            continue
        except Exception:  # a plug-in's part may raise anything; it spoils this finding only
            log.exception("whether %s has what %s writes cannot be told", asset, dag)
            continue
        if sentence:
            yield Problem("unexpected-keys", "warning", sentence)


def _of_keyless(dag: Dag) -> Iterator[Problem]:
    """Outlets with partitions of which no run of tasks says a key. Who works elsewhere may report keys."""
    if dag.is_partitioned or not dag.tasks:
        return
    for asset in _unnamed(dag):
        sentence = (
            f"its runs have no partition key, so none of the partitions of {asset.name} gets data by them:"
            " schedule=PartitionedAtRuntime() lets a person or a program give each run its key"
        )
        yield Problem("keyless-runs", "warning", sentence)


def _unnamed(dag: Dag) -> QuerySet[Asset]:
    """What it writes that has partitions, where its code does not name the keys by itself."""
    named = [name for task in dag.tasks if task.get("names_keys") for name in task["outlets"]]
    written = Asset.objects.filter(outlets__dag=dag, partitions__isnull=False)
    return written.exclude(name__in=named).order_by("name")


def _of_spec(name: str, spec: object, kind: str, at: datetime, span: Span | None = None) -> list[Problem]:
    try:
        warnings = specs.load(spec, kind).warnings
        sentences = between(warnings, at, *span) if span else warnings(at)
        return [Problem(getattr(each, "code", "warning"), "warning", f"{name}{each}") for each in sentences]
    except PartitionError as error:
        return [Problem("unreadable", "error", f"{name}the {kind} cannot be read: {error}")]
    except Exception as error:  # a plug-in's part may raise anything; it spoils this Dag's page only
        log.exception("the warnings of the %s cannot be told", kind)
        sentence = f"{name}what may surprise cannot be told: {type(error).__name__}: {error}"
        return [Problem("warnings-unknown", "warning", sentence)]
