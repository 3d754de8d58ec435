"""Assets as authors write them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduling.algebra.conditions import AssetLeaf, AssetRef
from scheduling.algebra.errors import InvalidDefinition
from scheduling.algebra.partitions import Partitions
from scheduling.keeping import check_defined


@dataclass(frozen=True, slots=True, eq=False)
class Asset(AssetLeaf):
    """A named thing that has partitions; `partitions` says which keys it is expected to have.

    Two assets of one name are the same asset, so a file may name what another file defines in full. Without a
    name the URI is the name.

    :raises InvalidDefinition: if it has neither a name nor a URI, or holds what cannot be kept.
    """

    name: str = ""
    uri: str = ""
    group: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    partitions: Partitions | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.uri)
        for field_name in ("name", "uri"):
            _check_text(field_name, getattr(self, field_name))
        for field_name in ("name", "uri", "group", "extra"):
            check_defined(getattr(self, field_name), f"the {field_name} of an asset")
        if not self.name:
            raise InvalidDefinition("an asset needs a name or a uri: Asset(name=…)")

    @staticmethod
    def ref(*, name: str = "", uri: str = "") -> AssetRef:
        """An asset that is defined elsewhere, earlier or later, by its name or its URI."""
        return AssetRef(name=name, uri=uri)

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, AssetLeaf) else NotImplemented

    def __hash__(self) -> int:
        return hash(AssetLeaf(self.name))

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class MadeAsset(Asset):
    """An asset together with the function that makes a partition of it: what `@asset` gives."""

    function: Callable[..., Any] = field(kw_only=True)

    __eq__ = Asset.__eq__
    __hash__ = Asset.__hash__


def _check_text(field_name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidDefinition(f"the {field_name} of an asset is text, not {value!r}")
    if len(value) > 500 or value != value.strip() or any(ord(character) < 32 for character in value):
        raise InvalidDefinition(
            f"the {field_name} of an asset has at most 500 characters, no control characters and no white "
            f"space around it: {value[:60]!r}"
        )
