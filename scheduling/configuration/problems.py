"""What is wrong with a Dag, for its page: errors keep it from ever working, warnings may surprise."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from core.models import Dag
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError


@dataclass(frozen=True, slots=True)
class Problem:
    """`code` for programs, `sentence` for the person who can mend it."""

    code: str
    level: Literal["error", "warning"]
    sentence: str


def note_problems(dags: Iterable[Dag], found: Mapping[int, list[Problem]], at: datetime) -> None:
    """Write the problems of each of `dags`: those in `found`, by primary key, and those of its timetable."""
    changed = []
    for dag in dags:
        problems = [asdict(problem) for problem in (*found.get(dag.pk, ()), *_of_definition(dag, at))]
        if dag.problems != problems:
            dag.problems = problems
            changed.append(dag)
    Dag.objects.bulk_update(changed, ["problems"])


def _of_definition(dag: Dag, at: datetime) -> Iterator[Problem]:
    try:
        timetable = specs.load(dag.schedule, "timetable") if dag.schedule else None
    except PartitionError as error:
        yield Problem("unreadable", "error", f"the timetable cannot be read: {error}")
        return
    for sentence in timetable.warnings(at) if timetable else ():
        yield Problem("warning", "warning", sentence)
