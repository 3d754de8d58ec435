"""JSON that people type: the `conf` of a run, the `extra` of an event."""

import json
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_POST

from partitions_site.web.http import HtmxRequest, answer
from scheduling import keeping
from scheduling.algebra.errors import PartitionError

EXAMPLE = '{"rows": 3}'

NAMES = ("conf", "extra")


class NotWritten(PartitionError):
    """A text that is no JSON object."""


def read(text: str, name: str) -> dict[str, Any]:
    """What the field `name` says; nothing typed is an empty object.

    :raises NotWritten: for what is no JSON object, with the place at which it goes wrong.
    :raises NotKept: for one that cannot be kept.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, character {error.colno}"
        raise NotWritten(
            f"{name} is a JSON object such as {EXAMPLE}: {error.msg.lower()} ({where})"
        ) from None
    except (RecursionError, ValueError):
        raise NotWritten(f"{name} nests too deep, or has a number that is too long") from None
    if not isinstance(value, dict):
        raise NotWritten(f"{name} is a JSON object such as {EXAMPLE}, and not {text.strip()[:60]}")
    keeping.check(value, name)
    return value


def problem(text: str, name: str) -> str:
    """Why the text cannot be read, while it is typed; empty if it can."""
    try:
        read(text, name)
    except PartitionError as refusal:
        return str(refusal)
    return ""


@require_POST
def check(request: HtmxRequest) -> HttpResponse:
    """What is wrong with the JSON that somebody types, before it is sent. No address tells what it was."""
    name = next((each for each in NAMES if each in request.POST), NAMES[0])
    context = {"name": name, "wrong": problem(request.POST.get(name, ""), name)}
    return answer(request, "parts/written.html", "parts/written.html", context)
