"""A mapper of one's own: keys arrive as `team_a/2026-03-10` and the Dag works by `2026-03-10`."""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.algebra.errors import CannotMap, InvalidDefinition
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.registry import register


@register
@dataclass(frozen=True, slots=True)
class StripNamespaceMapper(Mapper):
    """Takes the namespace off a key; a key of another namespace is a mapping problem.

    :param namespace: what stands before the separator.
    """

    namespace: str
    separator: str = "/"

    def __post_init__(self) -> None:
        Mapper.__post_init__(self)
        if not isinstance(self.namespace, str) or not self.namespace:
            raise InvalidDefinition(f"a namespace is text, not {self.namespace!r}", path="namespace")
        if not isinstance(self.separator, str) or not self.separator:
            raise InvalidDefinition(f"a separator is text, not {self.separator!r}", path="separator")

    @property
    def is_one_to_one(self) -> bool:
        return True

    def to_downstream(self, key: str) -> tuple[str, ...]:
        head = f"{self.namespace}{self.separator}"
        if not key.startswith(head) or key == head:
            raise CannotMap(f"{key!r} is not in the namespace {self.namespace}: it would start with {head}")
        return (key.removeprefix(head),)

    def upstream_keys(self, downstream_key: str) -> tuple[str, ...]:
        return (self.representative(downstream_key),)

    def representative(self, downstream_key: str) -> str:
        return f"{self.namespace}{self.separator}{downstream_key}"
