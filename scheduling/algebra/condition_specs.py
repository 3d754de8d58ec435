"""Stored conditions: the JSON of what a Dag listens to, and back; read from typed text, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from scheduling.algebra import condition_text
from scheduling.algebra.conditions import All, AssetLeaf, AssetRef, Expression
from scheduling.algebra.conditions import Any as AnyOf
from scheduling.algebra.errors import InvalidDefinition, within

_GROUPS = {"all": All, "any": AnyOf}
_LEAVES = ("asset", "ref_name", "ref_uri")


def load(spec: object) -> Expression:
    """The condition that a spec or a text describes.

    :raises InvalidDefinition: with the JSON path of what is wrong, or the place in the text.
    """
    if isinstance(spec, str):
        return condition_text.parse(spec)
    if not isinstance(spec, Mapping) or len(spec) != 1:
        raise InvalidDefinition(
            "a condition is a text such as `a & (b | c)`, or an object with one of all, any, asset, ref_name"
            f" and ref_uri, not {spec!r}"
        )
    ((name, given),) = spec.items()
    if name in _GROUPS:
        return within(name, _group, _GROUPS[name], given)
    if not isinstance(given, str) or not given:
        raise InvalidDefinition(f"an asset is named by text, not {given!r}", path=str(name))
    if name == "asset":
        return AssetLeaf(given)
    if name in ("ref_name", "ref_uri"):
        return AssetRef(**{name.removeprefix("ref_"): given})
    raise InvalidDefinition(
        f"{name!r} is no condition; use all, any, asset, ref_name or ref_uri", path=str(name)
    )


def dump(value: Expression) -> dict[str, Any]:
    """The spec of a condition.

    :raises InvalidDefinition: for a part that is none of ours.
    """
    if isinstance(value, All | AnyOf):
        name = next(name for name, cls in _GROUPS.items() if isinstance(value, cls))
        return {name: [dump(part) for part in value.parts]}
    if isinstance(value, AssetLeaf):
        return {"asset": value.name}
    if isinstance(value, AssetRef):
        return {"ref_name": value.name} if value.name else {"ref_uri": value.uri}
    raise InvalidDefinition(f"{value!r} is no condition")


def words(spec: object) -> str:
    """A stored condition as people type it; one that has no such text as its JSON."""
    if isinstance(spec, str):
        return spec
    try:
        condition = load(spec)
        text = condition_text.written(condition)
        if condition_text.parse(text) == condition:
            return text
    except InvalidDefinition:
        pass
    return json.dumps(spec, ensure_ascii=False)


def is_condition(spec: object) -> bool:
    """Whether it looks like a stored condition."""
    return isinstance(spec, Mapping) and len(spec) == 1 and next(iter(spec)) in (*_GROUPS, *_LEAVES)


def _group(cls: type[All] | type[AnyOf], given: object) -> Expression:
    if not isinstance(given, list) or not given:
        raise InvalidDefinition(f"a list of conditions belongs here, not {given!r}")
    return cls(tuple(within(f"[{n}]", load, each) for n, each in enumerate(given)))
