"""How a Dag listens, as the API and the page tell it: what counts, who says so, and what is wrong with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.models import Dag, ScheduleOverride
from scheduling.algebra.agreement import Finding
from scheduling.authoring.terms import LISTENING
from scheduling.configuration.agreeing import World
from scheduling.configuration.history import Version, versions


@dataclass(frozen=True, slots=True)
class Told:
    """`code` is what the file says, `schedule` what counts; they are one unless it is an override."""

    dag_id: str
    revision: int
    schedule: Any
    code: Any
    override: ScheduleOverride | None
    is_changeable: bool
    problems: Sequence[dict[str, str]]
    history: Sequence[Version]
    dag: Dag

    @property
    def agreement(self) -> Sequence[Finding]:
        """Whether its keys can meet. Costs what `World` costs, so only for those who show it."""
        return _agreement(self.dag) if _listens(self.dag) else ()

    @property
    def origin(self) -> str:
        return "code" if self.override is None else "override"

    @property
    def overridden_by(self) -> str | None:
        return self.override.by if self.override else None

    @property
    def overridden_at(self) -> datetime | None:
        return self.override.at if self.override else None

    @property
    def reason(self) -> str | None:
        return self.override.reason if self.override else None


def told(dag: Dag) -> Told:
    """How `dag` listens. Two queries."""
    override = ScheduleOverride.objects.filter(dag=dag).first()
    return Told(
        dag.dag_id,
        dag.revision,
        dag.schedule,
        override.code if override else dag.schedule,
        override,
        is_changeable(dag),
        dag.problems,
        versions(dag),
        dag,
    )


def is_changeable(dag: Dag) -> bool:
    """Whether the schedule of `dag` can be changed beside its file. Asks nothing."""
    return dag.is_active and _listens(dag)


def _listens(dag: Dag) -> bool:
    kinds = {each.__name__ for each in LISTENING}
    return isinstance(dag.schedule, dict) and dag.schedule.get("type") in kinds


def _agreement(dag: Dag) -> Sequence[Finding]:
    try:
        return World().findings(dag)
    except Exception as error:  # a plug-in's part may raise anything: the problems of the Dag say the same
        sentence = f"whether its keys can meet cannot be told: {type(error).__name__}: {error}"
        return (Finding("unknown", sentence, ()),)
