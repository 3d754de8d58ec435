"""Specs: the JSON of a definition, its `type` first, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from datetime import date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from scheduling.algebra import condition_specs
from scheduling.algebra.conditions import Expression
from scheduling.algebra.durations import duration
from scheduling.algebra.errors import InvalidDefinition, within
from scheduling.algebra.registry import BASES, find, kind_of

Spec = dict[str, Any]

KINDS = (*BASES, "condition")
"""What `load` can be asked for."""

# Fields that are written under a shorter name; both names are read.
_SHORT_NAMES = {
    "default_partition_mapper": "default_mapper",
    "partition_mapper_config": "mapper_config",
    "by_name": "dimensions",
    "listed": "keys",
}
_FIELD_NAMES = {
    "default_mapper": "default_partition_mapper",
    "partition_mapper": "default_partition_mapper",
    "mapper_config": "partition_mapper_config",
    "dimensions": "by_name",
    "keys": "listed",
}


def load(spec: object, kind: str) -> Any:
    """The value that a spec describes.

    :param kind: one of `KINDS`; a spec of another kind is refused.
    :raises InvalidDefinition: with the JSON path of what is wrong.
    """
    if kind == "condition":
        return condition_specs.load(spec)
    if not isinstance(spec, Mapping):
        raise InvalidDefinition(f"a {kind.replace('_', ' ')} is an object with a type, not {spec!r}")
    cls: Any = find(spec.get("type"), kind)
    return _built(cls, {_field_name(cls, str(name)): each for name, each in spec.items() if name != "type"})


def dump(value: object) -> Spec:
    """The spec of a value: its type, and every field that is not at its default.

    :raises InvalidDefinition: for anything that is no part of a definition.
    """
    if isinstance(value, Expression):
        return condition_specs.dump(value)
    cls: Any = type(value)
    kind_of(cls)
    spec: Spec = {"type": cls.__name__}
    for each in fields_of(cls):
        current = getattr(value, each.name)
        if current != default_of(each):
            spec[_SHORT_NAMES.get(each.name, each.name)] = written(current)
    return spec


@lru_cache(maxsize=512)
def fields_of(cls: Any) -> tuple[Field[Any], ...]:
    """The fields that make a value, the cap of a mapper last."""
    found = [each for each in fields(cls) if each.init]
    return tuple(sorted(found, key=lambda each: each.kw_only is True))


@lru_cache(maxsize=512)
def hints_of(cls: Any) -> dict[str, Any]:
    """The types of its fields."""
    return get_type_hints(cls)


def default_of(each: Field[Any]) -> Any:
    """What a field is if nothing is given for it; `MISSING` if something must be."""
    if each.default is not MISSING:
        return each.default
    return MISSING if each.default_factory is MISSING else each.default_factory()


def name_of(field: str) -> str:
    """What a field is called in specs."""
    return _SHORT_NAMES.get(field, field)


def kind_of_hint(hint: Any) -> str:
    """The kind of part that a field of this type holds, or nothing."""
    for each in get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,):
        if isinstance(each, type):
            if issubclass(each, Expression):
                return "condition"
            for kind, base in BASES.items():
                if issubclass(each, base):
                    return kind
    return ""


def written(value: Any) -> Any:
    """The JSON of a field's value."""
    if isinstance(value, (Expression, *BASES.values())):
        return dump(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, timedelta):
        return int(value.total_seconds()) if not value.microseconds else value.total_seconds()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: written(each) for name, each in value.items()}
    if isinstance(value, tuple | list | frozenset):
        return [_written_element(each) for each in value]
    return value


def _field_name(cls: Any, name: str) -> str:
    """The field that a spec means by `name`, which may be its short one."""
    found = _FIELD_NAMES.get(name, name)
    return found if any(each.name == found for each in fields_of(cls)) else name


def _built(cls: Any, given: dict[str, Any]) -> Any:
    known = {each.name: each for each in fields_of(cls)}
    for name in given:
        if name not in known:
            raise InvalidDefinition(
                f"{cls.__name__} has no {name}; it has {', '.join(known) or 'no fields'}", path=name
            )
    for each in known.values():
        if each.name not in given and default_of(each) is MISSING:
            name = _SHORT_NAMES.get(each.name, each.name)
            raise InvalidDefinition(f"{cls.__name__} needs {name}", path=name)
    hints = hints_of(cls)
    values = {}
    for name, each in given.items():
        if each is None and default_of(known[name]) is not MISSING and kind_of_hint(hints[name]):
            continue
        values[name] = within(_SHORT_NAMES.get(name, name), _read, hints[name], each)
    build: Callable[..., Any] = getattr(cls, "from_fields", cls)
    try:
        return build(**values)
    except InvalidDefinition as refusal:
        refusal.path = _as_in_spec(refusal.path)
        raise


def _as_in_spec(path: str) -> str:
    """A path that begins with the name of a field, with the name that the field has in specs."""
    for name, short in _SHORT_NAMES.items():
        if path == name or path.startswith((f"{name}.", f"{name}[")):
            return short + path[len(name) :]
    return path


def _read(hint: Any, given: Any) -> Any:
    """The Python value for a field of that type; what does not fit is left for the class to refuse."""
    kind = kind_of_hint(hint)
    if kind == "condition" or (kind and isinstance(given, Mapping)):
        return load(given, kind)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is tuple and isinstance(given, list):
        return tuple(within(f"[{n}]", _element, arguments[0], each) for n, each in enumerate(given))
    if origin is Mapping and isinstance(given, Mapping):
        return {name: within(name, _read, arguments[1], each) for name, each in given.items()}
    accepted = arguments if origin in (Union, UnionType) else (hint,)
    if timedelta in accepted and isinstance(given, int | float | str) and not isinstance(given, bool):
        return duration(given) if given else timedelta(0)
    if isinstance(given, str) and str not in accepted:
        return _moment(accepted, given)
    return given


def _element(hint: Any, given: Any) -> Any:
    """One of a list; a pair of an asset and its mapper, say, is an object with those two names."""
    pair = get_args(hint)
    if get_origin(hint) is not tuple or len(pair) != 2:
        return _read(hint, given)
    names = _pair_names(kind_of_hint(pair[1]))
    if not isinstance(given, Mapping) or set(given) != set(names):
        raise InvalidDefinition(f"an object with {' and '.join(names)} belongs here, not {given!r}")
    first, second = (within(name, _read, part, given[name]) for name, part in zip(names, pair, strict=True))
    return first, second


def _pair_names(kind: str) -> tuple[str, str]:
    return ("name", "partitions") if kind == "partitions" else ("asset", "mapper")


def _moment(accepted: tuple[Any, ...], text: str) -> Any:
    for kind in (datetime, date):
        if kind in accepted:
            try:
                return kind.fromisoformat(text)
            except ValueError:
                raise InvalidDefinition(
                    f"{text!r} is not a {kind.__name__}; write it like 2026-03-10"
                ) from None
    return text


def _written_element(each: Any) -> Any:
    if isinstance(each, tuple) and len(each) == 2 and isinstance(each[1], tuple(BASES.values())):
        names = _pair_names(kind_of(type(each[1])))
        return {name: written(part) for name, part in zip(names, each, strict=True)}
    return written(each)
