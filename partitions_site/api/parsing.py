"""How the body of a request is read: bounded in size and depth, and nothing that a database cannot keep."""

import json
import math
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import BaseParser

from partitions_site.api.errors import Invalid, TooLarge, problem

MOST_LEVELS = 40
"""How deep objects and lists may nest."""

MOST_ITEMS = 20_000
"""How many items one object or list may have: twice the longest list that any address takes."""


class JsonBody(BaseParser):
    """`application/json`. Not REST framework's: that has Django read it first, bounded as a form is."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        return _loaded(_read(stream, parser_context), [])


class NdjsonBody(BaseParser):
    """`application/x-ndjson`: one JSON value a line; empty lines count for nothing."""

    media_type = "application/x-ndjson"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        lines = _read(stream, parser_context).splitlines()
        if len(lines) > MOST_ITEMS:
            raise _unread(f"{len(lines)} lines; at most {MOST_ITEMS} are read", [])
        return [_loaded(line, [number]) for number, line in enumerate(lines) if line.strip()]


def _read(stream: IO[Any], context: Any) -> bytes:
    limit = settings.API_BODY_LIMIT
    announced = (context or {}).get("request")
    length = announced.META.get("CONTENT_LENGTH") if announced else None
    if length and length.isdigit() and int(length) > limit:
        raise TooLarge(f"The body has {length} bytes; at most {limit} are read")
    body: bytes = stream.read(limit + 1)
    if len(body) > limit:
        raise TooLarge(f"The body is longer than the {limit} bytes that are read")
    return body


def _loaded(text: bytes, loc: list[str | int]) -> Any:
    try:
        value = json.loads(text.decode(), parse_constant=_refuse_constant)
        _check(value, 0)
    except (ValueError, RecursionError) as error:
        raise _unread(str(error) or "nested too deeply", loc) from None
    return value


def _unread(reason: str, loc: list[str | int]) -> Invalid:
    return Invalid([problem("json_invalid", ["body", *loc], "JSON decode error", {}, error=reason)])


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _check(value: Any, level: int) -> None:
    if level > MOST_LEVELS:
        raise ValueError(f"nested more than {MOST_LEVELS} levels deep")
    if isinstance(value, str):
        _check_text(value)
    elif isinstance(value, dict | list):
        _check_items(value, level)
    elif isinstance(value, float) and not math.isfinite(value):
        raise ValueError("a number is too large")


def _check_items(many: dict[str, Any] | list[Any], level: int) -> None:
    if len(many) > MOST_ITEMS:
        raise ValueError(f"{len(many)} items in one list or object; at most {MOST_ITEMS} are read")
    if isinstance(many, dict):
        for name in many:
            _check_text(name)
        many = list(many.values())
    for each in many:
        _check(each, level + 1)


def _check_text(text: str) -> None:
    if "\x00" in text:
        raise ValueError("a text holds the character U+0000, which cannot be stored")
    if not text.isascii():
        text.encode()  # a lone surrogate is refused here: UnicodeEncodeError is a ValueError
