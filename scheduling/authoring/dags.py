"""Dags as authors write them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from difflib import get_close_matches
from types import TracebackType
from typing import Any, Self

from scheduling.algebra.conditions import Expression
from scheduling.algebra.errors import InvalidDefinition, MismatchedDefinition
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.timetables import Timetable
from scheduling.authoring import bodies, loading
from scheduling.authoring.assets import Asset, MadeAsset
from scheduling.authoring.attempts import Span
from scheduling.authoring.executors import Executor
from scheduling.authoring.tasks import Function, Step, Task

Schedule = Timetable | Expression | Sequence[Expression] | None


@dataclass(eq=False, slots=True)
class DAG:
    """What runs, and when: a name, a schedule, and the tasks called in its `with` block.

    Nothing is checked here: a Dag with a bad argument is shown with its problem, and its neighbours in the
    file are loaded (`terms.terms_of`).

    :param schedule: a timetable; assets joined with `&` and `|` for a Dag that is not partition-aware; or
        None, for a Dag that starts only by hand.
    :param catchup: which missed ticks are made up: True or "all", False or "last", "none".
    :param start_date: no tick before; without a zone it is UTC. By default, when the Dag is first seen.
    :param pool: the name of a pool, whose slots the runs of all Dags in it share; a run takes `pool_slots`.
    :param max_attempts: how often a run is taken again after its worker was lost.
    :param retries: how often a run is tried again after it failed; a task may say otherwise for itself.
    :param retry_delay: the wait before that, 5 minutes unless said; a timedelta, seconds, or text like "10m".
    :param retry_backoff: each wait is so many times as long as the one before; True doubles it.
    :param run_timeout: how long one attempt may take before it has failed.
    :param max_keys_per_run: how many keys of a backfill one run can take, in `partition_keys`; None for any
        number.
    :param executor: who does the work: "python", the tasks here; `Webhook(…)`; or "external", another system
        that asks for runs over the API. Then tasks are not called, and `outlets` are what it writes.
    """

    dag_id: str
    schedule: Schedule = None
    description: str = ""
    tags: Sequence[str] = ()
    catchup: bool | str = True
    max_active_runs: int = 16
    pool: str | None = None
    pool_slots: int = 1
    start_date: datetime | None = None
    end_date: datetime | None = None
    max_attempts: int = 3
    retries: int | None = None
    retry_delay: Span | None = None
    retry_backoff: float | bool | None = None
    run_timeout: Span | None = None
    max_keys_per_run: int | None = 1
    executor: Executor | str = "python"
    outlets: Sequence[Asset] = ()
    is_paused_upon_creation: bool = False
    steps: dict[str, Step] = field(default_factory=dict, init=False, repr=False)
    _declared: list[Task] = field(default_factory=list, init=False, repr=False)

    def __new__(cls, *given: object, **options: object) -> Self:
        _check_options(options)
        return object.__new__(cls)

    def __post_init__(self) -> None:
        loading.collect(self)
        if self.outlets:
            kind = getattr(self.executor, "kind", self.executor)
            self.add(Task(_elsewhere, str(kind), outlets=tuple(self.outlets)))

    def __enter__(self) -> Self:
        bodies.enter(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self._join_uncalled()
        finally:
            bodies.leave()

    def add(self, task: Task, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None) -> Step:
        """Make `task` a step; a task called several times gets a number behind its name."""
        task_id, number = task.task_id, 0
        while task_id in self.steps:
            number += 1
            task_id = f"{task.task_id}__{number}"
        step = Step(self, task_id, task, args, kwargs or {})
        self.steps[task_id] = step
        return step

    def declare(self, task: Task) -> None:
        """Remember that `task` was written in this Dag's body."""
        self._declared.append(task)

    def _join_uncalled(self) -> None:
        called = {id(step.task) for step in self.steps.values()}
        for task in self._declared:
            if id(task) not in called and not task.lacks():
                self.add(task)


def asset(
    *,
    schedule: Schedule = None,
    name: str = "",
    uri: str = "",
    partitions: Partitions | None = None,
    dag_id: str = "",
    **options: Any,
) -> Callable[[Function], MadeAsset]:
    """Make an asset of the function that makes a partition of it, and a Dag that calls the function.

    Asset and Dag take the function's name. The function may ask for `self`, the asset, and for whatever a
    task may ask for.

    :param options: `group` and `extra` of the asset; anything else is an argument of `DAG`.
    """
    own = {option: options.pop(option) for option in ("group", "extra") if option in options}

    def decorate(function: Function) -> MadeAsset:
        made = MadeAsset(name or function.__name__, uri, partitions=partitions, function=function, **own)
        dag = DAG(dag_id or made.name, schedule, **{"description": _first_line(function), **options})
        main = Task(function, function.__name__, outlets=(made,), made=made)
        with dag:
            main()
        return made

    return decorate


def assets_of(dag: DAG) -> list[Asset]:
    """The assets that the Dag names in full: in its schedule, in its tasks' outlets and inlets."""
    named = [leaf for step in dag.steps.values() for leaf in (*step.task.outlets, *step.task.inlets)]
    named += _condition_leaves(dag.schedule)
    return [leaf for leaf in named if isinstance(leaf, Asset)]


INSTEAD = {
    "params": "what a run is given when it is triggered is its conf, which a task may ask for",
    "default_args": "retries, retry_delay and run_timeout are arguments of DAG itself",
    "schedule_interval": "it is called schedule",
}
"""Arguments that people know from elsewhere."""


def _check_options(options: Mapping[str, object]) -> None:
    """Refuse an argument that a Dag does not have, with the one that was meant where that can be told."""
    names = [each.name for each in fields(DAG) if each.init]
    for name in options:
        if name not in names:
            near = [f"did you mean {each}?" for each in get_close_matches(name, names, 1)]
            hint = INSTEAD.get(name) or next(iter(near), f"it takes {', '.join(names)}")
            raise MismatchedDefinition(f"DAG has no argument {name}: {hint}")


def _elsewhere() -> None:
    raise InvalidDefinition("the work of this Dag is done elsewhere")


def _condition_leaves(schedule: object) -> list[Any]:
    conditions = schedule if isinstance(schedule, (list, tuple)) else [getattr(schedule, "assets", schedule)]
    return [leaf for part in conditions if isinstance(part, Expression) for leaf in part.leaves()]


def _first_line(function: Function) -> str:
    return next(iter((function.__doc__ or "").strip().splitlines()), "")
