"""What a form, or anybody else, has to know of a class that specs can name: made from the class itself.

Fields, their types and defaults are those of the dataclass; the words are its docstring's. So a class that a
plug-in registers is described as those built in are, and nothing is written twice. A field may say more of
itself in its metadata: `help`, `minimum`, `maximum`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass
from datetime import date, datetime, timedelta
from enum import Enum
from functools import lru_cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from scheduling.algebra import specs
from scheduling.algebra.differences import ABSENT
from scheduling.algebra.registry import BASES, find, kind_of, known

# fmt: off
Form = Literal[
    "text", "whole", "number", "flag", "choice", "span", "moment", "date",
    "part", "condition", "texts", "parts", "pairs", "json",
]
# fmt: on
"""How a field is filled in. `texts`: a list of text or dates; `parts`: of parts; `pairs`: of an asset, or a
name, and a part; `json`: anything else."""


@dataclass(frozen=True, slots=True)
class FieldDescription:
    """One field. `name` is its name in a spec, `kind` that of the parts it takes, if it takes any.

    `choices` are the words that it takes, beside or instead of parts; `types` the only parts, if not all of
    their kind. `default` is JSON, or `ABSENT` where one must be given.
    """

    name: str
    form: Form
    kind: str = ""
    types: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    default: Any = ABSENT
    is_optional: bool = False
    help: str = ""
    minimum: int | None = None
    maximum: int | None = None

    @property
    def is_required(self) -> bool:
        return self.default is ABSENT

    @property
    def pair_names(self) -> tuple[str, str]:
        """What the two of a pair are called in a spec."""
        return ("name", "partitions") if self.kind == "partitions" else ("asset", "mapper")


@dataclass(frozen=True, slots=True)
class TypeDescription:
    """One class: its name in specs, its kind, what it is in a sentence, and its fields in order."""

    type: str
    kind: str
    sentence: str
    fields: tuple[FieldDescription, ...]

    def field(self, name: str) -> FieldDescription | None:
        return next((each for each in self.fields if each.name == name), None)


def describe(name: object, kind: str) -> TypeDescription:
    """The description of the class that specs call `name`.

    :raises InvalidDefinition: if there is none of that kind.
    """
    told: TypeDescription = _described(find(name, kind))
    return told


def describe_all(kind: str) -> tuple[TypeDescription, ...]:
    """Every class of a kind that is known, those of plug-ins included, in the order they became known."""
    return tuple(_described(cls) for cls in known(kind).values())


@lru_cache(maxsize=512)
def _described(cls: Any) -> TypeDescription:
    sentence, _, _ = _words(cls).partition("\n")
    return TypeDescription(
        cls.__name__, kind_of(cls), sentence, tuple(_field(cls, each) for each in specs.fields_of(cls))
    )


def _field(cls: Any, each: Any) -> FieldDescription:
    hint = specs.hints_of(cls)[each.name]
    told = specs.default_of(each)
    arguments = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    real = tuple(one for one in arguments if one is not type(None))
    form, extra = _form(real)
    return FieldDescription(
        name=specs.name_of(each.name),
        form=form,
        default=ABSENT if told is MISSING else specs.written(told),
        is_optional=len(real) < len(arguments),
        help=each.metadata.get("help") or _help(cls, each.name, specs.name_of(each.name)),
        minimum=each.metadata.get("minimum"),
        maximum=each.metadata.get("maximum"),
        **extra,
    )


def _form(hints: tuple[Any, ...]) -> tuple[Form, dict[str, Any]]:
    """How a field is filled in whose value is one of `hints`, and what else is to be known for it."""
    kinds = {specs.kind_of_hint(one) for one in hints} - {""}
    if kinds:
        return _part(hints, kinds)
    if len(hints) > 1:
        return "json", {}
    [hint] = hints
    if get_origin(hint) is Literal:
        return "choice", {"choices": tuple(map(str, get_args(hint)))}
    if isinstance(hint, type) and issubclass(hint, Enum):
        return "choice", {"choices": tuple(str(one.value) for one in hint)}
    if get_origin(hint) in (tuple, list, frozenset):
        return _list(get_args(hint))
    for plain, form in _PLAIN.items():
        if hint is plain:
            return form, {}
    return "json", {}


_PLAIN: Mapping[type, Form] = {
    bool: "flag",
    int: "whole",
    float: "number",
    str: "text",
    timedelta: "span",
    datetime: "moment",
    date: "date",
}


def _part(hints: tuple[Any, ...], kinds: set[str]) -> tuple[Form, dict[str, Any]]:
    if kinds == {"condition"}:
        return "condition", {}
    kind = kinds.pop()
    others = [one for one in hints if not specs.kind_of_hint(one)]
    words = [one for one in others if isinstance(one, type) and issubclass(one, Enum)]
    if kinds or len(words) < len(others):
        return "json", {}
    bases = [one for one in hints if specs.kind_of_hint(one)]
    types = () if BASES[kind] in bases else tuple(one.__name__ for one in bases)
    return "part", {
        "kind": kind,
        "types": types,
        "choices": tuple(str(one.value) for word in words for one in word),
    }


def _list(of: tuple[Any, ...]) -> tuple[Form, dict[str, Any]]:
    hint = of[0]
    if hint in (str, date, datetime):
        return "texts", {}
    kind = specs.kind_of_hint(hint)
    if kind and kind != "condition" and get_origin(hint) not in (Union, UnionType):
        return "parts", {"kind": kind}
    pair = get_args(hint)
    if get_origin(hint) is tuple and len(pair) == 2 and (kind := specs.kind_of_hint(pair[1])):
        return "pairs", {"kind": kind}
    return "json", {}


def _help(cls: Any, *names: str) -> str:
    """What the docstring of the class, or of one that it is made from, says of a field."""
    for each in cls.__mro__:
        text = _words(each)
        for name in names:
            if found := re.search(rf"^:param {name}:\s*(.+?)(?=^:|\Z)", text, re.DOTALL | re.MULTILINE):
                return _capital(" ".join(found[1].split()))
        # The first sentence is about the whole: it stands above all fields already.
        told = [each for each in list(_sentences(text))[1:] if any(f"`{name}`" in each for name in names)]
        if told:
            return " ".join(told)
    return ""


def _sentences(text: str) -> Iterator[str]:
    prose = re.sub(r"^:.*", "", text, flags=re.DOTALL | re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n", prose):
        yield from re.split(r"(?<=[.!?])\s+", " ".join(paragraph.split()))


def _words(cls: Any) -> str:
    """Its own docstring; a dataclass without one gets its signature for one, which says nothing here."""
    own = cls.__dict__.get("__doc__") or ""
    return "" if own.startswith(f"{cls.__name__}(") else inspect.cleandoc(own)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
