"""Selections of keys as people type them: `[2026-03-01...2026-03-10], 2026-04-01`, or `tw|[2026-03-01...]`.

A selection is terms joined with commas. A term has a part for each segment of a key: a key, a range with both
ends inclusive of which either may be left open, or `*` for all. What holds a comma, a bracket or an asterisk,
or blanks at its ends, is written in double quotes; a backslash in them keeps the next character as it is.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduling.algebra.errors import PartitionError


class InvalidSelection(PartitionError):
    """A selection that cannot be read; `position` is the character, from 0, at which it went wrong."""

    def __init__(self, message: str, text: str, position: int) -> None:
        super().__init__(f"{message} (character {position + 1} of {text!r})")
        self.text, self.position = text, position

    def pointed(self) -> str:
        """The text, and below it a mark at the place."""
        return f"{self.text}\n{' ' * self.position}^"


@dataclass(frozen=True, slots=True)
class One:
    """A key, or a segment of one, as it is."""

    key: str
    position: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """From `first` to `last`, both included; none where the end is open."""

    first: One | None
    last: One | None
    position: int = 0


@dataclass(frozen=True, slots=True)
class Everything:
    """All there are."""

    position: int = 0


Part = One | Span | Everything
Term = tuple[Part, ...]


def parse(text: str, delimiter: str | None = None) -> tuple[Term, ...]:
    """The terms of a selection.

    :param delimiter: what joins the segments of keys; none where keys have no segments.
    :raises InvalidSelection: naming the character.
    """
    return _Reader(text, delimiter).terms()


def quoted(key: str, delimiter: str | None = None) -> str:
    """`key` as it must be typed."""
    plain = key and key == key.strip() and not set(key) & set(_SPECIAL) and "..." not in key
    if plain and not (delimiter and delimiter in key):
        return key
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def spelled(part: Part, delimiter: str | None = None) -> str:
    """A part of a term as it must be typed."""
    if isinstance(part, One):
        return quoted(part.key, delimiter)
    if isinstance(part, Everything):
        return "*"
    first, last = (quoted(end.key, delimiter) if end else "" for end in (part.first, part.last))
    return f"[{first}...{last}]"


_SPECIAL = ',[]*"'
_DOTS = "..."


class _Reader:
    """Reads from left to right; `at` is the next character."""

    def __init__(self, text: str, delimiter: str | None) -> None:
        self.text, self.delimiter = text, delimiter
        self.at = 0

    def terms(self) -> tuple[Term, ...]:
        found = [self._term()]
        while self._taken(","):
            found.append(self._term())
        if self._ahead(_DOTS):
            raise self._wrong("a range is written in brackets, [first...last], and not bare as here")
        if self.at < len(self.text):
            raise self._wrong(f"expected a comma and not {self.text[self.at]!r}")
        return tuple(found)

    def _term(self) -> Term:
        parts = [self._part()]
        while self.delimiter and self._taken(self.delimiter):
            parts.append(self._part())
        return tuple(parts)

    def _part(self) -> Part:
        self._blank()
        begun = self.at
        if self._taken("*"):
            return Everything(begun)
        if self._taken("["):
            return self._span(begun)
        return self._key()

    def _span(self, begun: int) -> Span:
        first = None if self._ahead(_DOTS) else self._key()
        if not self._taken(_DOTS):
            raise self._wrong("expected ... between the two ends of a range")
        last = None if self._ahead("]") else self._key()
        if not self._taken("]"):
            raise self._wrong("expected ] at the end of a range")
        return Span(first, last, begun)

    def _key(self) -> One:
        self._blank()
        begun = self.at
        if self._taken('"'):
            return One(self._quoted(begun), begun)
        while self.at < len(self.text) and not self._stops():
            self.at += 1
        key = self.text[begun : self.at].rstrip()
        if not key:
            raise self._wrong("expected a key")
        return One(key, begun)

    def _quoted(self, begun: int) -> str:
        found = ""
        while self.at < len(self.text) and self.text[self.at] != '"':
            self.at += self.text[self.at] == "\\"
            found += self.text[self.at : self.at + 1]
            self.at += 1
        if not self._taken('"'):
            self.at = begun
            raise self._wrong("expected another quotation mark after the one")
        if not found:
            self.at = begun
            raise self._wrong("expected a key")
        return found

    def _stops(self) -> bool:
        here = self.text[self.at]
        return here in _SPECIAL or self._ahead(_DOTS) or bool(self.delimiter and self._ahead(self.delimiter))

    def _ahead(self, token: str) -> bool:
        return self.text.startswith(token, self.at)

    def _taken(self, token: str) -> bool:
        self._blank()
        if not self._ahead(token):
            return False
        self.at += len(token)
        return True

    def _blank(self) -> None:
        while self.at < len(self.text) and self.text[self.at].isspace():
            self.at += 1

    def _wrong(self, message: str) -> InvalidSelection:
        return InvalidSelection(message, self.text, self.at)
