"""What a Dag says, checked and put into the form in which it is kept."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from graphlib import CycleError, TopologicalSorter
from typing import Any, Literal

from scheduling.algebra.conditions import All, AssetRef, Expression, Leaf
from scheduling.algebra.cron_timetables import CronTriggerTimetable
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.timetables import AssetTimetable, PartitionedAssetTimetable, Timetable
from scheduling.authoring.attempts import Attempts, attempts_of
from scheduling.authoring.dags import DAG
from scheduling.authoring.executors import Executor, Python, executor_of
from scheduling.authoring.naming import may_name_keys
from scheduling.authoring.tasks import Step

Catchup = Literal["all", "last", "none"]
MAX_NAME_LENGTH = 250
_CATCHUP: dict[object, Catchup] = {True: "all", False: "last", "all": "all", "last": "last", "none": "none"}
_COUNTS = ("max_active_runs", "max_attempts", "pool_slots")


@dataclass(frozen=True, slots=True)
class Terms:
    """A Dag's arguments, all of them possible; `steps` is in an order in which they can run."""

    dag_id: str
    timetable: Timetable | None
    description: str
    tags: list[str]
    catchup: Catchup
    max_active_runs: int
    pool: str | None
    pool_slots: int
    max_attempts: int
    max_keys_per_run: int | None
    executor: Executor
    attempts: Attempts
    start_date: datetime | None
    end_date: datetime | None
    is_paused_upon_creation: bool
    steps: tuple[Step, ...]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The assets it listens to."""
        return tuple(self.timetable.assets.leaves()) if isinstance(self.timetable, LISTENING) else ()

    def tasks(self) -> list[dict[str, Any]]:
        """The steps as JSON, for pages. Those whose code may name the keys it writes say so."""
        return [
            {
                "task_id": step.task_id,
                "upstream": list(step.upstream),
                "outlets": [outlet.name for outlet in step.task.outlets],
                "inlets": [_name(inlet) for inlet in step.task.inlets],
                **({"names_keys": True} if may_name_keys(step.task.function) else {}),
            }
            for step in self.steps
        ]


LISTENING = (AssetTimetable, PartitionedAssetTimetable)


def check_dag_id(dag_id: object) -> str:
    """`dag_id` itself, if a Dag can have it.

    :raises InvalidDefinition: otherwise.
    """
    return check_name("a dag_id", dag_id)


def check_name(what: str, name: object) -> str:
    """`name` itself, if `what` can be called so.

    :raises InvalidDefinition: otherwise.
    """
    if not isinstance(name, str) or not name.strip() or name != name.strip():
        raise InvalidDefinition(f"{what} is text without white space around it, not {name!r}")
    if len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise InvalidDefinition(
            f"{what} has at most {MAX_NAME_LENGTH} printable characters, not {len(name)}: {name[:60]!r}"
        )
    return name


def terms_of(dag: DAG) -> Terms:
    """The Dag's terms.

    :raises InvalidDefinition: naming the argument that cannot be; MismatchedDefinition where two do not fit.
    """
    for name in _COUNTS:
        _check_count(name, getattr(dag, name))
    if dag.max_keys_per_run is not None:
        _check_count("max_keys_per_run", dag.max_keys_per_run)
    executor = executor_of(dag.executor)
    if dag.outlets and isinstance(executor, Python):
        raise InvalidDefinition(
            "outlets of a Dag whose tasks are Python are outlets of a task: @task(outlets=…)"
        )
    return Terms(
        dag_id=check_dag_id(dag.dag_id),
        timetable=_timetable(dag.schedule),
        description=str(dag.description or ""),
        tags=_tags(dag.tags),
        catchup=_catchup(dag.catchup),
        max_active_runs=dag.max_active_runs,
        pool=None if dag.pool is None else check_name("the name of a pool", dag.pool),
        pool_slots=dag.pool_slots,
        max_attempts=dag.max_attempts,
        max_keys_per_run=dag.max_keys_per_run,
        executor=executor,
        attempts=attempts_of(dag, executor.attempts),
        start_date=_instant("start_date", dag.start_date),
        end_date=_instant("end_date", dag.end_date),
        is_paused_upon_creation=bool(dag.is_paused_upon_creation),
        steps=ordered(dag.steps.values()),
    )


def ordered(steps: Iterable[Step]) -> tuple[Step, ...]:
    """The steps in an order in which each comes after those it follows.

    :raises InvalidDefinition: naming the tasks of a circle.
    """
    by_id = {step.task_id: step for step in steps}
    try:
        order = tuple(TopologicalSorter({name: step.upstream for name, step in by_id.items()}).static_order())
    except CycleError as error:
        circle = " >> ".join(reversed(error.args[1]))
        raise InvalidDefinition(f"tasks wait for each other in a circle: {circle}") from None
    return tuple(by_id[name] for name in order)


def _timetable(schedule: object) -> Timetable | None:
    if schedule is None:
        return None
    if isinstance(schedule, str):
        schedule = CronTriggerTimetable(schedule)
    if isinstance(schedule, (list, tuple)) and schedule:
        schedule = schedule[0] if len(schedule) == 1 else All(tuple(schedule))
    if isinstance(schedule, Expression):
        schedule = AssetTimetable(schedule)
    if not isinstance(schedule, Timetable):
        raise InvalidDefinition(
            "a schedule is a timetable, such as CronPartitionTimetable(…), assets joined with & and |, "
            f"a cron or None, not {schedule!r}"
        )
    schedule.check()
    return schedule


def _check_count(name: str, value: object) -> None:
    if type(value) is not int or value < 1:
        raise InvalidDefinition(f"{name} is a whole number from 1 on, not {value!r}")


def _catchup(value: object) -> Catchup:
    try:
        return _CATCHUP[value]
    except (KeyError, TypeError):
        raise InvalidDefinition(
            f'catchup is True or "all", False or "last", or "none", not {value!r}'
        ) from None


def _instant(name: str, value: object) -> datetime | None:
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InvalidDefinition(f"{name} is a datetime, not {value!r}")
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _tags(tags: object) -> list[str]:
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidDefinition(f"tags is a list of words, not {tags!r}")
    return [str(tag) for tag in tags]


def _name(leaf: Leaf) -> str:
    return leaf.name or leaf.uri if isinstance(leaf, AssetRef) else leaf.name
