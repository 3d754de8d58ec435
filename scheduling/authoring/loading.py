"""Collects the Dags and sensors that a definition file makes while it runs."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scheduling.authoring.dags import DAG
    from scheduling.authoring.sensors import Sensor


@dataclass(frozen=True, slots=True)
class Collection:
    """What the module of that name has made so far, in order."""

    module: str
    made: "list[DAG | Sensor]" = field(default_factory=list)


_collection: ContextVar[Collection | None] = ContextVar("collection", default=None)


@contextmanager
def collecting(module: str) -> Iterator[Collection]:
    """While this lasts, Dags and sensors that the body of `module` makes are collected."""
    collection = Collection(module)
    token = _collection.set(collection)
    try:
        yield collection
    finally:
        _collection.reset(token)


def collect(made: "DAG | Sensor") -> None:
    """Keep `made` for the module whose body makes it, through however many functions.

    A module that the definition file imports runs its own body: what it makes is not the file's.
    """
    collection = _collection.get()
    if collection is not None and _module_being_run() == collection.module:
        collection.made.append(made)


def _module_being_run() -> str:
    frame = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name == "<module>":
            return str(frame.f_globals.get("__name__", ""))
        frame = frame.f_back  # type: ignore[assignment]
    return ""
