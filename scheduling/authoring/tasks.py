"""Tasks, and the steps they become when they are called in the body of a Dag."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, overload

from scheduling.algebra.conditions import AssetLeaf, AssetRef, Leaf
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring import bodies
from scheduling.authoring.assets import Asset
from scheduling.authoring.attempts import Attempts, Span

if TYPE_CHECKING:
    from scheduling.authoring.dags import DAG

Function = Callable[..., Any]
T = TypeVar("T")

GIVEN = frozenset(
    {
        *(
            "conf",
            "context",
            "dag_run",
            "dynamic_partitions",
            "inlet_events",
            "outlet_events",
            "partition_date",
            "partition_key",
        ),
        *("partition_keys", "run_id", "task_id", "triggering_asset_events"),
    }
)
"""Parameters of a task that the run fills in, unless the call gives them."""


@dataclass(eq=False, slots=True)
class Step:
    """One call of a task in a Dag. It stands for what that will return: pass it on, or order with `>>`."""

    dag: "DAG" = field(repr=False)
    task_id: str
    task: "Task"
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    upstream: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        for before in steps_in((self.args, self.kwargs)):
            self.follow(before)

    def follow(self, before: "Step") -> None:
        """Run after `before`.

        :raises InvalidDefinition: if it belongs to another Dag.
        """
        if before.dag is not self.dag:
            raise InvalidDefinition(
                f"{self.task_id} of Dag {self.dag.dag_id} cannot follow a task of Dag {before.dag.dag_id}"
            )
        if before.task_id not in self.upstream:
            self.upstream.append(before.task_id)

    def __rshift__(self, others: T) -> T:
        for other in _several(others):
            other.follow(self)
        return others

    def __lshift__(self, others: T) -> T:
        for other in _several(others):
            self.follow(other)
        return others

    def __rrshift__(self, others: "Iterable[Step]") -> "Step":
        self << others
        return self

    def __rlshift__(self, others: "Iterable[Step]") -> "Step":
        self >> others
        return self


@dataclass(eq=False, slots=True)
class Task:
    """A function that becomes a step each time it is called in the body of a Dag. `made`: the asset it is.

    `retries` and `retry_delay` count instead of the Dag's when it is this task that fails.
    """

    function: Function
    task_id: str
    outlets: tuple[Asset, ...] = ()
    inlets: tuple[Leaf, ...] = ()
    made: Asset | None = None
    retries: int | None = None
    retry_delay: Span | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Step:
        dag = bodies.current()
        if dag is None:
            raise InvalidDefinition(
                f"{self.task_id}() is a task: call it in the body of a Dag, or its `function` anywhere"
            )
        if lacking := self.lacks(*args, **kwargs):
            raise InvalidDefinition(f"{self.task_id}() lacks {' and '.join(lacking)}, which no run fills in")
        return dag.add(self, args, kwargs)

    def lacks(self, *args: Any, **kwargs: Any) -> list[str]:
        """Parameters that neither this call nor a run would give a value.

        :raises InvalidDefinition: for arguments that the function does not take.
        """
        signature = inspect.signature(self.function)
        try:
            filled = signature.bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise InvalidDefinition(f"{self.task_id}(): {error}") from None
        return [
            name
            for name, kind in signature.parameters.items()
            if _is_open(kind) and name not in (*filled, *self.given)
        ]

    @property
    def given(self) -> frozenset[str]:
        return GIVEN | {"self"} if self.made else GIVEN


@overload
def task(function: Function, /) -> Task: ...


@overload
def task(
    *,
    task_id: str = "",
    outlets: Iterable[Asset] = (),
    inlets: Iterable[Leaf] = (),
    retries: int | None = None,
    retry_delay: Span | None = None,
) -> Callable[[Function], Task]: ...


def task(
    function: Function | None = None,
    /,
    *,
    task_id: str = "",
    outlets: Iterable[Asset] = (),
    inlets: Iterable[Leaf] = (),
    retries: int | None = None,
    retry_delay: Span | None = None,
) -> Task | Callable[[Function], Task]:
    """Make a task of a function: `@task`, or `@task(outlets=[…], inlets=[…])`.

    A task written in the body of a Dag and never called there runs as well, if it needs no arguments.

    :raises InvalidDefinition: if an outlet is not an asset, or an inlet neither asset nor reference, or for
        retries that cannot be.
    """
    Attempts().but(retries, retry_delay)

    def decorate(function: Function) -> Task:
        made = Task(
            function,
            task_id or function.__name__,
            _outlets(outlets),
            _inlets(inlets),
            retries=retries,
            retry_delay=retry_delay,
        )
        dag = bodies.current()
        if dag is not None:
            dag.declare(made)
        return made

    return decorate(function) if function is not None else decorate


def steps_in(value: object) -> Iterator[Step]:
    """The steps that `value` holds, itself or inside lists, tuples, sets and the values of dictionaries."""
    if isinstance(value, Step):
        yield value
    elif isinstance(value, Mapping):
        yield from steps_in(list(value.values()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from steps_in(item)


def filled(value: Any, results: Mapping[str, Any]) -> Any:
    """`value` with each step in it replaced by what it returned."""
    if isinstance(value, Step):
        return results[value.task_id]
    if isinstance(value, dict):
        return {name: filled(item, results) for name, item in value.items()}
    if type(value) in (list, tuple, set, frozenset):
        return type(value)(filled(item, results) for item in value)
    return value


def _several(others: object) -> Iterator[Step]:
    for step in list(others) if isinstance(others, (list, tuple, set)) else [others]:
        if not isinstance(step, Step):
            raise InvalidDefinition(f"{step!r} is not a called task: order tasks as in first() >> second()")
        yield step


def _is_open(parameter: inspect.Parameter) -> bool:
    return parameter.default is parameter.empty and parameter.kind not in (
        parameter.VAR_POSITIONAL,
        parameter.VAR_KEYWORD,
    )


def _outlets(outlets: Iterable[Asset]) -> tuple[Asset, ...]:
    found = tuple(dict.fromkeys([outlets] if isinstance(outlets, Asset) else outlets))
    for outlet in found:
        if not isinstance(outlet, Asset):
            raise InvalidDefinition(f"an outlet is an Asset(…), not {outlet!r}")
    return found


def _inlets(inlets: Iterable[Leaf]) -> tuple[Leaf, ...]:
    found = tuple(dict.fromkeys([inlets] if isinstance(inlets, (AssetLeaf, AssetRef)) else inlets))
    for inlet in found:
        if not isinstance(inlet, (AssetLeaf, AssetRef)):
            raise InvalidDefinition(f"an inlet is an Asset(…) or an Asset.ref(…), not {inlet!r}")
    return found
