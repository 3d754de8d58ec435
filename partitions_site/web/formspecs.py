"""Forms of specs that come back: the spec that each says, whoever has filled it in.

They are drawn by `specforms`, and both name a field by its path in the spec.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from scheduling.algebra import specs
from scheduling.algebra.condition_text import parse
from scheduling.algebra.described import FieldDescription, TypeDescription, describe
from scheduling.algebra.differences import ABSENT
from scheduling.algebra.errors import InvalidDefinition

ROOT = "spec"
MOST_LEVELS = 12
MOST_ITEMS = 50

Given = Mapping[str, str]


def read(given: Given, kind: str = "timetable") -> Any:
    """The spec that a form says. It may be one that cannot be: whoever loads it says where it is wrong."""
    found = _read_part(given, ROOT, FieldDescription("", "part", kind=kind), 0)
    return {} if found is ABSENT else found


def _read_part(given: Given, path: str, told: FieldDescription, level: int) -> Any:
    name = given.get(f"{path}.type", "")
    if not name or level > MOST_LEVELS:
        return ABSENT
    if name in told.choices:
        return name
    try:
        described: TypeDescription = describe(name, told.kind)
    except InvalidDefinition:
        return {"type": name}
    read = {each.name: _read_field(given, f"{path}.{each.name}", each, level) for each in described.fields}
    return {"type": name} | {name: value for name, value in read.items() if value is not ABSENT}


def _read_field(given: Given, path: str, told: FieldDescription, level: int) -> Any:
    if told.form == "part":
        return _read_part(given, path, told, level + 1)
    if told.form in ("parts", "pairs"):
        return _read_items(given, path, told, level)
    text = given.get(path)
    if text is None or (not text.strip() and not (told.form == "text" and told.is_required and text)):
        return ABSENT
    value = _value(text.replace("\r\n", "\n"), told)
    is_default = value == told.default and type(value) is type(told.default)
    return ABSENT if is_default and not told.is_required else value


def _read_items(given: Given, path: str, told: FieldDescription, level: int) -> Any:
    first, second = told.pair_names
    element = FieldDescription(second, "part", kind=told.kind)
    found: list[Any] = []
    for number in range(MOST_ITEMS + 1):
        place = f"{path}[{number}]"
        within = place if told.form == "parts" else f"{place}.{second}"
        if f"{within}.type" not in given:
            break
        part = _read_part(given, within, element, level + 1)
        if part is ABSENT:
            continue
        found.append(
            part if told.form == "parts" else {first: _named(given, f"{place}.{first}"), second: part}
        )
    return found if found or told.is_required else ABSENT


def _named(given: Given, path: str) -> Any:
    """The first of a pair: an asset, or the name of a dimension."""
    text = given.get(path, "").strip()
    return _condition(text) if path.endswith(".asset") else text


def _value(text: str, told: FieldDescription) -> Any:
    if told.form == "whole" and re.fullmatch(r"\s*[+-]?[0-9]{1,18}\s*", text):
        return int(text)
    if told.form == "number" and re.fullmatch(r"\s*[+-]?[0-9]{1,18}(\.[0-9]{1,18})?\s*", text):
        return float(text)
    if told.form == "flag":
        return {"yes": True, "no": False}.get(text, text)
    if told.form == "texts":
        return [line for line in text.split("\n") if line.strip()]
    if told.form == "condition":
        return _condition(text)
    if told.form == "json":
        return _json(text)
    if told.form in ("span", "moment", "date"):
        return 0 if told.form == "span" and text.strip() == "0" else text.strip()
    return text


def _condition(text: str) -> Any:
    """The spec that a text says; the text itself if it says none: whoever loads it says where it is wrong."""
    if text.lstrip().startswith("{"):
        return _json(text)
    try:
        return specs.dump(parse(text))
    except InvalidDefinition:
        return text


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
