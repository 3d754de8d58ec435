"""Which Dag's body is being written."""

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduling.authoring.dags import DAG

_open: ContextVar[tuple["DAG", ...]] = ContextVar("open_bodies", default=())


def current() -> "DAG | None":
    """The Dag whose `with` block is open, the innermost of several."""
    return _open.get()[-1] if _open.get() else None


def enter(dag: "DAG") -> None:
    _open.set((*_open.get(), dag))


def leave() -> None:
    _open.set(_open.get()[:-1])
