"""The trigger form of a Dag: what it shows, what a typed key means, and the runs that it makes."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from core.models import Dag, DagRun
from partitions_site.web import written
from partitions_site.web.confirm import check_meant
from partitions_site.web.http import HtmxRequest, allowed, answer, back_to, deed, found, go, later
from scheduling import board, listening, runs
from scheduling import meaning as meaning_of
from scheduling.algebra.errors import PartitionError
from scheduling.runs import Ask, DuplicateRunId

LONGEST_FORM_ID = 200

MOST_KEYS = 100
"""Keys that the form triggers at once; more than these are a backfill's."""


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_dagrun")
def trigger(request: HtmxRequest) -> HttpResponse:
    """Run a Dag by hand, for one key if its runs have one."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Dag.objects, "core.add_dagrun", dag_id=given.get("dag", ""))
    context = {"dag": row, **form(request, row, timezone.now())}
    if request.method != "POST":
        return answer(request, "dags/trigger.html", "dags/_dialog.html", context)
    asks = _asks(given, context["keys"])
    twins = row.runs.filter(run_id__in=[ask.run_id for ask in asks])
    try:
        made = list(twins)  # the same form sent twice: the first one made the runs
        if not made:
            _check(context, given)
            conf = written.read(context["conf"], "conf")
            asks = [replace(ask, conf=conf) for ask in asks]
            made = runs.trigger_all(row, asks, deed=deed(request), at=timezone.now())
            messages.success(request, f"Triggered {row.dag_id}{_for(made)}.")
    except DuplicateRunId:
        made = list(twins)
    except PartitionError as error:
        context |= {"problem": str(error)}
        return answer(request, "dags/trigger.html", "dags/_dialog.html", context, status=422)
    several = f"{reverse('runs')}?{urlencode({'dag': row.dag_id})}"
    return go(request, back_to(request, reverse("run", args=[made[0].pk]) if len(made) == 1 else several))


@require_safe
def meaning(request: HtmxRequest) -> HttpResponse:
    """What a typed key means, in words, before it is sent."""
    row = found(request, Dag.objects, dag_id=request.GET.get("dag", ""))
    keys = _lines_of(request.GET.get("key", ""))[:MOST_KEYS]
    context = {"dag": row, "means": meaning_of.of_keys(row, keys, now=timezone.now())}
    return answer(request, "dags/_means.html", "dags/_means.html", context)


def form(request: HtmxRequest, row: Dag, now: datetime) -> dict[str, Any]:
    """What the trigger form shows. A run id made here turns a double click into one run."""
    given = request.POST if request.method == "POST" else request.GET
    key = given.get("key", "")
    keys = _lines_of(key)
    return {
        "takes_key": takes_key(row),
        "key": key,
        "keys": keys,
        "several": given.get("several") == "yes",
        "key_format": later(_key_format, row),
        "example": later(_example, row, now),
        "run_id": given.get("run_id") or f"manual__{now:%Y-%m-%dT%H:%M:%S}+00:00__{secrets.token_hex(4)}",
        "suggestions": later(board.suggestions, row, now=now),
        "means": later(meaning_of.of_keys, row, keys[:MOST_KEYS], now=now),
        "conf": (conf := given.get("conf", "")),
        "conf_wrong": written.problem(conf, "conf"),
        "problem": "",
        "back": back_to(request, ""),
    }


def takes_key(row: Dag) -> str:
    """`always`, `perhaps` or `never`; a Dag that cannot be read is not asked for a key."""
    try:
        timetable = listening.timetable_of(row)
    except PartitionError:
        return "never"
    if timetable is None:
        return "never"
    return "always" if timetable.partitioned else "perhaps" if timetable.at_runtime else "never"


class KeyNeeded(PartitionError):
    """A Dag whose every run is for one key was triggered without one."""


class BlankKey(PartitionError):
    """Blanks and nothing else: nobody means them, and a run without a key is another thing."""


class TooManyKeys(PartitionError):
    """More keys than the trigger form takes."""


def _check(shown: dict[str, Any], given: Mapping[str, str]) -> None:
    """:raises PartitionError: for no key where there must be one, too many, or one that may be a mistake."""
    if shown["takes_key"] == "always" and not shown["keys"]:
        raise KeyNeeded(f"say for which partition key to run {shown['dag'].dag_id}")
    if shown["key"] and not shown["keys"]:
        raise BlankKey("the partition key is blank: leave the field empty for a run without one")
    if len(shown["keys"]) > MOST_KEYS:
        raise TooManyKeys(f"{len(shown['keys'])} keys are more than {MOST_KEYS}: plan a backfill for so many")
    check_meant(shown["means"].doubt, given, "trigger again")


def _for(made: Sequence[DagRun]) -> str:
    if len(made) > 1:
        return f" for {len(made)} keys"
    return f" for {made[0].partition_key}" if made[0].partition_key else ""


def _asks(given: Mapping[str, str], keys: Sequence[str]) -> list[Ask]:
    """One for each key, or one without a key. Their run ids come from the form's own.

    They depend on what is asked, too: a browser that goes back shows the form with the id that it had.
    """
    run_id, note = given.get("run_id", "")[:LONGEST_FORM_ID], given.get("note", "")[:1000]
    run_id += f"_{crc32(repr([keys, note, given.get('conf')]).encode()):08x}" if run_id else ""
    settle = "asked_to_settle" not in given or "settle" in given
    ids = [f"{run_id}__{number}" if number else run_id for number in range(max(1, len(keys)))]
    return [
        Ask(key, run_id=each if run_id else None, note=note, settle_held=settle)
        for key, each in zip_longest(keys, ids)
    ]


def _key_format(row: Dag) -> str:
    try:
        return str(getattr(listening.timetable_of(row), "key_format", ""))
    except PartitionError:
        return ""


def _example(row: Dag, now: datetime) -> str:
    """The key of its next tick, as an example of one."""
    return next((tick.partition_key or "" for tick in board.next_ticks(row, now=now, count=1)), "")


def _lines_of(text: str) -> list[str]:
    """The keys that somebody typed, one a line: a key has no line break in it."""
    return list(dict.fromkeys(line for each in text.splitlines() if (line := each.strip())))
