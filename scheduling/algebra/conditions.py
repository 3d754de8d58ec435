"""Which assets a Dag waits for: assets joined with `&` and `|`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from scheduling.algebra.errors import InvalidDefinition


class Expression:
    """Something that is true or not, given which assets are."""

    __slots__: ClassVar[tuple[str, ...]] = ()

    def __and__(self, other: Expression) -> All:
        return All(_flat(All, self, other))

    def __or__(self, other: Expression) -> Any:
        return Any(_flat(Any, self, other))

    def leaves(self) -> Iterator[Leaf]:
        """The assets named, each once, in the order they are written."""
        raise NotImplementedError

    def holds(self, present: Callable[[Leaf], bool]) -> bool:
        raise NotImplementedError

    def words(self, say: Callable[[Leaf], str] | None = None) -> str:
        """The expression as a phrase: `a and (b or c)`; `say` words one asset."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class AssetLeaf(Expression):
    """An asset by its name, as the file that defines it writes it."""

    name: str

    def leaves(self) -> Iterator[Leaf]:
        yield self

    def holds(self, present: Callable[[Leaf], bool]) -> bool:
        return present(self)

    def words(self, say: Callable[[Leaf], str] | None = None) -> str:
        return say(self) if say else self.name


@dataclass(frozen=True, slots=True)
class AssetRef(Expression):
    """An asset named by `name` or by `uri`, which may be defined later or elsewhere."""

    name: str = ""
    uri: str = ""

    def __post_init__(self) -> None:
        if bool(self.name) == bool(self.uri):
            raise InvalidDefinition("an asset reference takes either a name or a uri: Asset.ref(name=…)")

    def leaves(self) -> Iterator[Leaf]:
        yield self

    def holds(self, present: Callable[[Leaf], bool]) -> bool:
        return present(self)

    def words(self, say: Callable[[Leaf], str] | None = None) -> str:
        return say(self) if say else self.name or self.uri


Leaf = AssetLeaf | AssetRef


@dataclass(frozen=True, slots=True)
class All(Expression):
    """True when every part is."""

    parts: tuple[Expression, ...]

    def leaves(self) -> Iterator[Leaf]:
        yield from _distinct(self.parts)

    def holds(self, present: Callable[[Leaf], bool]) -> bool:
        return all(part.holds(present) for part in self.parts)

    def words(self, say: Callable[[Leaf], str] | None = None) -> str:
        return _joined(" and ", self.parts, say)


@dataclass(frozen=True, slots=True)
class Any(Expression):
    """True when some part is."""

    parts: tuple[Expression, ...]

    def leaves(self) -> Iterator[Leaf]:
        yield from _distinct(self.parts)

    def holds(self, present: Callable[[Leaf], bool]) -> bool:
        return any(part.holds(present) for part in self.parts)

    def words(self, say: Callable[[Leaf], str] | None = None) -> str:
        return _joined(" or ", self.parts, say)


def _flat(kind: type[All] | type[Any], *sides: object) -> tuple[Expression, ...]:
    parts: list[Expression] = []
    for side in sides:
        if not isinstance(side, Expression):
            raise InvalidDefinition(f"{side!r} is not an asset: join assets with & and |")
        parts.extend(side.parts if isinstance(side, kind) else (side,))
    return tuple(parts)


def _distinct(parts: tuple[Expression, ...]) -> dict[Leaf, None]:
    return dict.fromkeys(leaf for part in parts for leaf in part.leaves())


def _joined(word: str, parts: tuple[Expression, ...], say: Callable[[Leaf], str] | None) -> str:
    return word.join(
        f"({part.words(say)})" if isinstance(part, (All, Any)) else part.words(say) for part in parts
    )
