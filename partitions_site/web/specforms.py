"""Specs as nested forms: what is drawn for a part, filled in with what a spec says.

It asks the description of each class (`algebra.described`), so a class that a plug-in registers has a form
like any other. A field is called by its path in the spec: `spec.default_mapper.window.direction`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from partitions_site.web.formspecs import MOST_ITEMS, MOST_LEVELS, ROOT
from scheduling.algebra import condition_specs
from scheduling.algebra.described import FieldDescription, describe_all
from scheduling.algebra.differences import ABSENT
from scheduling.algebra.durations import duration_text

NAMED = {"n": "how many"}
"""Fields whose own name says nothing to those who fill them in."""


@dataclass(slots=True)
class Node:
    """One thing to fill in. `form` is how; `parts` are what stands inside it.

    `types` are what may be chosen: values and their words. The chosen one is in `value`, as is whatever a
    field of text holds; `sentence` says what a chosen part is.
    """

    path: str
    label: str
    form: str
    value: str = ""
    types: list[tuple[str, str]] = field(default_factory=list)
    parts: list["Node"] = field(default_factory=list)
    is_required: bool = False
    default: str = ""
    help: str = ""
    sentence: str = ""
    problem: str = ""
    pointed: str = ""
    minimum: int | None = None
    maximum: int | None = None

    @property
    def id(self) -> str:
        return re.sub(r"\W+", "-", self.path).strip("-")

    @property
    def is_idle(self) -> bool:
        """Nobody has said anything here, and nobody must."""
        plain = self.form not in ("part", "parts", "pairs", "pair")
        return plain and not self.is_required and not self.problem and self.value in ("", self.default)

    @property
    def busy_parts(self) -> list["Node"]:
        return [part for part in self.parts if not part.is_idle]

    @property
    def idle_parts(self) -> list["Node"]:
        return [part for part in self.parts if part.is_idle]

    def walk(self) -> Iterator["Node"]:
        yield self
        for part in self.parts:
            yield from part.walk()


def draw(spec: object, kind: str = "timetable", *, types: tuple[str, ...] = ()) -> Node:
    """The form of a part, filled in with what `spec` says, as far as that can be."""
    told = FieldDescription("", "part", kind=kind, types=types)
    return _part(spec, ROOT, told, 0)


def place(root: Node, path: str) -> Node:
    """What `path` is about, or the nearest thing around it that the form has: at last all of it."""
    by_path = {node.path: node for node in root.walk()}
    wanted = f"{ROOT}.{path}" if path and not path.startswith("[") else f"{ROOT}{path}"
    wanted = wanted.removesuffix(".type")
    while wanted not in by_path and wanted != ROOT:
        wanted = re.sub(r"(\.[^.\[\]]+|\[\d+\])$", "", wanted)
    return by_path[wanted]


def point(root: Node, path: str, sentence: str, pointed: str = "") -> bool:
    """Let `sentence` stand at what `path` is about, or at the nearest thing around it, if there is one.

    :param pointed: the text that was typed there, with a mark below the character that is wrong.
    """
    node = place(root, path)
    node.problem, node.pointed = sentence, pointed
    return node is not root


def _part(spec: object, path: str, told: FieldDescription, level: int) -> Node:
    name = spec.get("type", "") if isinstance(spec, Mapping) else spec if isinstance(spec, str) else ""
    node = _node(path, told, form="part", value=str(name))
    known = {each.type: each for each in describe_all(told.kind)}
    types = told.types or tuple(known)
    node.types = [(each, each) for each in types] + [(each, each) for each in told.choices]
    if not told.is_required or not name:
        node.types.insert(0, ("", _nothing(told)))
    if name and name not in [value for value, _ in node.types]:
        node.types.append((str(name), f"{name}, which is not known"))
    chosen = known.get(str(name))
    if chosen and level < MOST_LEVELS and isinstance(spec, Mapping):
        node.sentence = chosen.sentence
        node.parts = [
            _field(spec.get(each.name, ABSENT), f"{path}.{each.name}", each, level) for each in chosen.fields
        ]
    return node


def _nothing(told: FieldDescription) -> str:
    if told.is_required:
        return "choose one"
    if isinstance(told.default, Mapping):
        return f"as usual: {told.default.get('type', '')}"
    return "none"


def _field(value: Any, path: str, told: FieldDescription, level: int) -> Node:
    if told.form == "part":
        return _part(None if value is ABSENT else value, path, told, level + 1)
    if told.form in ("parts", "pairs"):
        return _items(value, path, told, level)
    node = _node(path, told, form=told.form, value=_text(value, told))
    if told.form == "choice":
        usual, node.value = _default(told), "" if node.value == _default(told) else node.value
        node.types = [(each, each.replace("_", " ")) for each in told.choices if each != usual]
        if usual or told.is_optional:
            node.types.insert(0, ("", f"as usual: {usual.replace('_', ' ')}" if usual else "not said"))
    if told.form == "flag":
        node.types = [("", _default(told)), ("yes", "yes"), ("no", "no")]
    return node


def _items(value: Any, path: str, told: FieldDescription, level: int) -> Node:
    """A list of parts, and a place for one more."""
    node = _node(path, told, form=told.form)
    listed = [*value[:MOST_ITEMS], None] if isinstance(value, list) else [None]
    element = FieldDescription("", "part", kind=told.kind)
    for number, each in enumerate(listed):
        place = f"{path}[{number}]"
        label = str(number + 1) if each is not None else "one more"
        if told.form == "parts":
            part = _part(each, place, element, level + 1)
            part.label = label
        else:
            part = _pair(each, place, told, level)
        if each is None:
            part.is_required = False
        node.parts.append(part)
    return node


def _pair(each: Any, place: str, told: FieldDescription, level: int) -> Node:
    first, second = told.pair_names
    given = each if isinstance(each, Mapping) else {}
    name = given.get(first, "")
    text = name if isinstance(name, str) else condition_specs.words(name)
    part = _part(
        given.get(second), f"{place}.{second}", FieldDescription(second, "part", kind=told.kind), level + 1
    )
    if each is None:
        part.types[0] = ("", "add none")
        part.is_required = False
    return Node(place, "", "pair", parts=[Node(f"{place}.{first}", first, "text", text), part])


def _node(path: str, told: FieldDescription, *, form: str, value: str = "") -> Node:
    return Node(
        path,
        NAMED.get(told.name, told.name.replace("_", " ")),
        form,
        value,
        is_required=told.is_required,
        default=_default(told),
        help=told.help,
        minimum=told.minimum,
        maximum=told.maximum,
    )


def _default(told: FieldDescription) -> str:
    """What it is if nothing is said, in words."""
    if told.default is ABSENT or told.default is None or told.form == "part":
        return ""
    if told.form == "flag":
        return "yes" if told.default else "no"
    return _text(told.default, told)


def _text(value: Any, told: FieldDescription) -> str:
    """A value as a field shows it."""
    if value is ABSENT or value is None:
        return ""
    if told.form == "flag":
        return "yes" if value is True else "no" if value is False else str(value)
    if told.form == "span" and isinstance(value, int | float) and not isinstance(value, bool):
        return duration_text(timedelta(seconds=value)) if value else "0"
    if told.form == "texts" and isinstance(value, list):
        return "\n".join(map(str, value))
    if told.form == "condition":
        return condition_specs.words(value)
    if told.form == "json":
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return value if isinstance(value, str) else json.dumps(value)
