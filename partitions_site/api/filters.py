"""What a list can be narrowed by: each filter reads its own query parameters and describes them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from django.db.models import Q
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from partitions_site.api import lookups  # noqa: F401  (registers `like` and `prefix`)
from partitions_site.api.errors import Invalid, Unprocessable, problem
from partitions_site.api.fields import Flag, Instant, Text
from partitions_site.api.forms import read_value

EVERYTHING = "~"
MOST_TERMS = 100
"""Alternatives of one pattern: a database reads a condition of thousands slowly, or not at all."""

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ "

Field = serializers.Field


class Filter(Protocol):
    def parameters(self) -> list[OpenApiParameter]: ...

    def narrow(self, query: QueryDict) -> Q:
        """:raises Invalid: if a parameter does not fit."""


@dataclass(frozen=True, slots=True)
class Exactly:
    """`name=value`: the column is exactly this."""

    name: str
    column: str
    field: type[Field[Any, Any, Any, Any]] = Text
    words: str = ""

    def parameters(self) -> list[OpenApiParameter]:
        return [_parameter(self.name, self.words, self.field)]

    def narrow(self, query: QueryDict) -> Q:
        given = query.get(self.name)
        if given is None:
            return Q()
        return Q(**{self.column: read_value(self.field(), given, ["query", self.name])})


@dataclass(frozen=True, slots=True)
class AnyOf:
    """`name=a&name=b`: the column is one of these, or what `column` makes of them.

    `meaning` maps what may be said to what is stored; `fallback` is taken when nothing is said.
    """

    name: str
    column: str | Callable[[list[str]], Q]
    meaning: Mapping[str, Sequence[str]] | None = None
    commas: bool = False
    fallback: Sequence[str] = ()

    def parameters(self) -> list[OpenApiParameter]:
        enum = list(self.meaning) if self.meaning else None
        return [
            OpenApiParameter(
                self.name, str, many=True, enum=enum, description="One of these; may be repeated"
            )
        ]

    def narrow(self, query: QueryDict) -> Q:
        given = query.getlist(self.name) or list(self.fallback)
        if self.commas:
            given = [part for each in given for part in each.split(",") if part]
        if not given:
            return Q()
        stored = self._stored(given)
        return Q(**{f"{self.column}__in": stored}) if isinstance(self.column, str) else self.column(stored)

    def _stored(self, given: list[str]) -> list[str]:
        if self.meaning is None:
            return [read_value(Text(), each, ["query", self.name]) for each in given]
        unknown = [each for each in given if each not in self.meaning]
        if unknown:
            valid = ", ".join(self.meaning)
            raise Unprocessable(f"Invalid value for {self.name}. Valid values are {valid}")
        return [stored for each in given for stored in self.meaning[each]]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`<name>_pattern`: contains this, in any case; `%` and `_` are wildcards, `|` is or, `~` everything."""

    name: str
    column: str
    alternatives: bool = True

    def parameters(self) -> list[OpenApiParameter]:
        return [_parameter(f"{self.name}_pattern", "Contains this; % and _ are wildcards, ~ is everything")]

    def narrow(self, query: QueryDict) -> Q:
        return _any_of(query, f"{self.name}_pattern", self.alternatives, self._contains)

    def _contains(self, term: str) -> Q:
        return Q() if term == EVERYTHING else Q(**{f"{self.column}__like": f"%{term}%"})


@dataclass(frozen=True, slots=True)
class Prefix:
    """`<name>_prefix_pattern`: begins with exactly this; punctuation at its end does not count, `|` is or."""

    name: str
    column: str
    alternatives: bool = True

    def parameters(self) -> list[OpenApiParameter]:
        return [_parameter(f"{self.name}_prefix_pattern", "Begins with this")]

    def narrow(self, query: QueryDict) -> Q:
        return _any_of(query, f"{self.name}_prefix_pattern", self.alternatives, self._begins)

    def _begins(self, term: str) -> Q:
        start = term.rstrip(PUNCTUATION)
        return Q(**{f"{self.column}__prefix": start}) if start else Q()


@dataclass(frozen=True, slots=True)
class Range:
    """`<name>_gte`, `_gt`, `_lte`, `_lt`."""

    name: str
    column: str
    field: type[Field[Any, Any, Any, Any]] = Instant
    stored: Callable[[Any], Any] = lambda value: value

    def parameters(self) -> list[OpenApiParameter]:
        return [_parameter(f"{self.name}_{bound}", words, self.field) for bound, words in BOUNDS.items()]

    def narrow(self, query: QueryDict) -> Q:
        narrowed = Q()
        for bound in BOUNDS:
            name = f"{self.name}_{bound}"
            if (given := query.get(name)) is not None:
                value = read_value(self.field(), given, ["query", name])
                narrowed &= Q(**{f"{self.column}__{bound}": self.stored(value)})
        return narrowed


@dataclass(frozen=True, slots=True)
class When:
    """A parameter whose meaning no column has: `means` says what it narrows to."""

    name: str
    means: Callable[[Any], Q]
    field: type[Field[Any, Any, Any, Any]] = Flag
    default: str | None = None
    words: str = ""

    def parameters(self) -> list[OpenApiParameter]:
        return [_parameter(self.name, self.words, self.field)]

    def narrow(self, query: QueryDict) -> Q:
        given = query.get(self.name, self.default)
        return Q() if given is None else self.means(read_value(self.field(), given, ["query", self.name]))


BOUNDS = {"gte": "From this on", "gt": "After this", "lte": "Up to and including this", "lt": "Before this"}


def _any_of(query: QueryDict, name: str, alternatives: bool, match: Callable[[str], Q]) -> Q:
    """A disjunction over the terms of a pattern; a term that matches everything makes it everything."""
    if (written := query.get(name)) is None:
        return Q()
    given = read_value(Text(), written, ["query", name])
    terms = [*dict.fromkeys(term for term in given.split("|") if term)] if alternatives else [given]
    if len(terms) > MOST_TERMS:
        words = f"At most {MOST_TERMS} alternatives, not {len(terms)}"
        raise Invalid([problem("too_long", ["query", name], words, given)])
    found = [match(term) for term in terms]
    if not found or not all(found):
        return Q()
    narrowed = found[0]
    for each in found[1:]:
        narrowed |= each
    return narrowed


def _parameter(name: str, words: str, field: type[Field[Any, Any, Any, Any]] = Text) -> OpenApiParameter:
    return OpenApiParameter(name, TYPES[field.__name__], description=words)


TYPES: dict[str, Any] = {
    "Text": str,
    "PartitionKey": str,
    "Whole": int,
    "RowId": int,
    "Decimal": float,
    "Flag": bool,
    # Not `date-time`: an instant without an offset, and a bare date, are read too.
    "Instant": str,
}
