"""Conditions as people type them: `orders & (refunds | "late orders")`.

`&` binds tighter than `|`, as in Python. An asset is named by its name; one with blanks or any of `& | ( ) "`
in it is written in double quotes, where a backslash keeps the next character as it is. `ref(name)` and
`uri(s3://…)` are references that may be defined later.
"""

from __future__ import annotations

import re

from scheduling.algebra.conditions import All, Any, AssetLeaf, AssetRef, Expression, Leaf
from scheduling.algebra.errors import InvalidDefinition

MOST_NESTED = 50
"""Brackets within brackets."""

_PLAIN = re.compile(r'[^\s&|()"]+')
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_REFERENCES = ("ref", "uri")


class InvalidCondition(InvalidDefinition):
    """A text that is no condition; `position` is the character, from 0, at which it went wrong."""

    def __init__(self, message: str, text: str, position: int, *, path: str = "") -> None:
        super().__init__(message, path=path)
        self.text, self.position = text, position

    def pointed(self) -> str:
        """The line of the text that is wrong, and below it a mark at the place."""
        start = self.text.rfind("\n", 0, self.position) + 1
        line = self.text[start:].partition("\n")[0]
        return f"{line}\n{' ' * (self.position - start)}^"

    def below(self, step: str) -> InvalidCondition:
        joint = "" if not self.path or self.path.startswith("[") else "."
        return InvalidCondition(str(self), self.text, self.position, path=f"{step}{joint}{self.path}")


def parse(text: str) -> Expression:
    """The condition that `text` says.

    :raises InvalidCondition: naming the character.
    """
    reader = _Reader(text)
    found = reader.alternatives(0)
    if reader.rest():
        raise reader.wrong("`&` or `|` belongs here, or the end")
    return found


def written(condition: Expression) -> str:
    """The text that says `condition`. A group of one has none: it is written without its group."""
    if isinstance(condition, All | Any):
        joint = " & " if isinstance(condition, All) else " | "
        return joint.join(_part(each) for each in condition.parts)
    if isinstance(condition, AssetRef):
        return f"ref({_quoted(condition.name)})" if condition.name else f"uri({_quoted(condition.uri)})"
    if isinstance(condition, AssetLeaf):
        return _quoted(condition.name)
    raise InvalidDefinition(f"{condition!r} is no condition")


def _part(condition: Expression) -> str:
    is_group = isinstance(condition, All | Any) and len(condition.parts) > 1
    return f"({written(condition)})" if is_group else written(condition)


def _quoted(name: str) -> str:
    if _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


class _Reader:
    """Reads from left to right; `at` is the next character."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def rest(self) -> str:
        """What is left, from the next character that is no blank."""
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1
        return self.text[self.at :]

    def alternatives(self, level: int) -> Expression:
        parts = [self.together(level)]
        while self.takes("|"):
            parts.append(self.together(level))
        return parts[0] if len(parts) == 1 else Any(tuple(parts))

    def together(self, level: int) -> Expression:
        parts = [self.one(level)]
        while self.takes("&"):
            parts.append(self.one(level))
        return parts[0] if len(parts) == 1 else All(tuple(parts))

    def one(self, level: int) -> Expression:
        if level > MOST_NESTED:
            raise self.wrong("these brackets are nested too deeply")
        opened = self.at
        if self.takes("("):
            opened = self.at - 1
            found = self.alternatives(level + 1)
            if not self.takes(")"):
                raise self.wrong("the bracket that opens here has no end", opened)
            return found
        return self.leaf()

    def leaf(self) -> Leaf:
        name, is_quoted = self.name()
        if is_quoted or name not in _REFERENCES or not self.takes("("):
            return AssetLeaf(name)
        opened = self.at - 1
        given, _ = self.name()
        if not self.takes(")"):
            raise self.wrong("the bracket that opens here has no end", opened)
        return AssetRef(**{"name" if name == "ref" else "uri": given})

    def name(self) -> tuple[str, bool]:
        """The next name, and whether it was in quotes."""
        rest = self.rest()
        if found := _PLAIN.match(rest):
            self.at += found.end()
            return found[0], False
        if found := _QUOTED.match(rest):
            if not found[1]:
                raise self.wrong("a name cannot be empty")
            self.at += found.end()
            return re.sub(r"\\(.)", r"\1", found[1], flags=re.DOTALL), True
        raise self.wrong(
            "the quotation mark that opens here has no end"
            if rest[:1] == '"'
            else "the name of an asset belongs here"
        )

    def takes(self, sign: str) -> bool:
        if self.rest()[:1] != sign:
            return False
        self.at += 1
        return True

    def wrong(self, message: str, at: int | None = None) -> InvalidCondition:
        place = self.at if at is None else at
        where = f"at character {place + 1}" if place < len(self.text) else "at the end"
        return InvalidCondition(f"{message}, {where} of {self.text!r}", self.text, place)
