"""Dags: the list, one Dag with its runs, the trigger form and the pause switch."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import zip_longest
from typing import Any
from urllib.parse import urlencode
from zlib import crc32

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.models import AssetEvent, Dag, DagRun, Dependency, Outlet
from partitions_site.web import written
from partitions_site.web.confirm import check_meant
from partitions_site.web.http import HtmxRequest, allowed, answer, back_to, deed, found, go, later, sight_of
from scheduling import board, configuration, listening, runs, ticks
from scheduling import meaning as meaning_of
from scheduling.algebra.errors import PartitionError
from scheduling.belonging import Sight
from scheduling.board import HeldFilter, RunFilter
from scheduling.explain import explain
from scheduling.runs import Ask, DuplicateRunId

SHOWN_RUNS = 25
SHOWN_HELD = 5

SHOWS = ("paused", "failing")
"""What the list can be narrowed to: `failing` are those whose last run that has ended has failed."""

LONGEST_FORM_ID = 200
MOST_KEYS = 100
"""Keys that the form triggers at once; more than these are a backfill's."""


@require_safe
def dags(request: HtmxRequest) -> HttpResponse:
    """Every Dag in one line. The rows poll this same address."""
    wanted = {name: request.GET.get(name, "").strip() for name in ("q", "file", "tag", "show")}
    rows = later(_listed, sight_of(request))
    context = {
        "words": wanted["q"],
        **wanted,
        "shows": SHOWS,
        "tags": later(_tags, rows),
        "lines": later(_lines, rows, wanted),
    }
    return answer(request, "dags/list.html", "dags/_rows.html", context)


@require_safe
def dag(request: HtmxRequest, dag_id: str) -> HttpResponse:
    """One Dag; with `why`, why it has not run for that key. What moves polls this same address."""
    now = timezone.now()
    row = found(request, Dag.objects.select_related("source", "override"), dag_id=dag_id)
    context = {
        "now": now,
        "dag": row,
        "line": later(lambda: board.lines([row])[0]),
        "ticks": later(board.next_ticks, row, now=now),
        "missed": later(ticks.missed, row, now=now) if row.is_paused else None,
        "page": later(board.runs, RunFilter(dag=dag_id), size=SHOWN_RUNS),
        "held": later(board.held_runs, HeldFilter(dag=dag_id), now=now, size=SHOWN_HELD),
        "dependencies": later(_dependencies, row),
        "outlets": later(lambda: list(row.outlets.select_related("asset").order_by("asset__name"))),
        "why": later(_why, request, row, now),
        **_form(request, row, now),
    }
    return answer(request, "dags/dag.html", ("dags/_now.html", "dags/_why.html"), context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_dagrun")
def trigger(request: HtmxRequest) -> HttpResponse:
    """Run a Dag by hand, for one key if its runs have one."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Dag.objects, "core.add_dagrun", dag_id=given.get("dag", ""))
    context = {"dag": row, **_form(request, row, timezone.now())}
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


@require_POST
@allowed("core.change_dag")
def pause(request: HtmxRequest) -> HttpResponse:
    """Pause a Dag, or let it run again."""
    row = found(request, Dag.objects, "core.change_dag", dag_id=request.POST.get("dag", ""))
    paused = request.POST.get("paused") == "yes"
    make_up = request.POST.get("make_up") == "yes"
    configuration.set_paused(row, paused, deed=deed(request), at=timezone.now(), make_up=make_up)
    made_up = "; the ticks it missed are made up" if make_up else ""
    said = (
        "is paused: events are counted, nothing starts"
        if paused
        else f"runs again; what is complete starts now{made_up}"
    )
    messages.success(request, f"{row.dag_id} {said}.")
    return go(request, reverse("dag", args=[row.dag_id]))


class KeyNeeded(PartitionError):
    """A Dag whose every run is for one key was triggered without one."""


class TooManyKeys(PartitionError):
    """More keys than the trigger form takes."""


def _dependencies(dag: Dag) -> list[Dependency]:
    """What it listens to; `is_unheard` where nobody writes that and no event of it has come."""
    writers = Outlet.objects.filter(asset=OuterRef("asset"), dag__is_active=True)
    heard = Exists(writers) | Exists(AssetEvent.objects.filter(asset=OuterRef("asset")))
    return list(dag.dependencies.select_related("asset").annotate(is_unheard=~heard).order_by("pk"))


def _check(form: dict[str, Any], given: Mapping[str, str]) -> None:
    """:raises PartitionError: for no key where there must be one, too many, or one that may be a mistake."""
    if form["takes_key"] == "always" and not form["keys"]:
        raise KeyNeeded(f"say for which partition key to run {form['dag'].dag_id}")
    if len(form["keys"]) > MOST_KEYS:
        raise TooManyKeys(f"{len(form['keys'])} keys are more than {MOST_KEYS}: plan a backfill for so many")
    check_meant(form["means"].doubt, given, "trigger again")


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


def _why(request: HtmxRequest, row: Dag, now: datetime) -> dict[str, Any]:
    """What is known of the key that is asked about, if one is; of a Dag without keys, of its next run."""
    key, is_asked = request.GET.get("why", "").strip(), "why" in request.GET
    asked = {"key": key, "is_asked": is_asked, "takes_key": _takes_key(row)}
    if not is_asked:
        return asked
    try:
        told = explain(row, key or None, now=now)
        return asked | {"explanation": told, "groups": board.together(told.facts, told.verdict)}
    except PartitionError as error:
        return asked | {"problem": str(error)}


def _listed(sight: Sight) -> list[Dag]:
    rows = Dag.objects.active().filter(sight.dags()).select_related("override", "source")
    return list(rows.order_by("dag_id"))


def _lines(rows: Sequence[Dag], wanted: Mapping[str, str]) -> list[board.DagLine]:
    lines = board.lines([row for row in rows if _is_wanted(row, wanted)])
    return [line for line in lines if line.is_failing] if wanted["show"] == "failing" else lines


def _is_wanted(row: Dag, wanted: Mapping[str, str]) -> bool:
    return (
        wanted["q"].casefold() in row.dag_id.casefold()
        and wanted["file"] in ("", row.source.name if row.source else None)
        and (not wanted["tag"] or wanted["tag"] in row.tags)
        and (wanted["show"] != "paused" or row.is_paused)
    )


def _tags(rows: Sequence[Dag]) -> list[str]:
    return sorted({tag for row in rows for tag in row.tags})


def _form(request: HtmxRequest, row: Dag, now: datetime) -> dict[str, Any]:
    """What the trigger form shows. A run id made here turns a double click into one run."""
    given = request.POST if request.method == "POST" else request.GET
    key = given.get("key", "")
    keys = _lines_of(key)
    return {
        "takes_key": _takes_key(row),
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
    }


def _takes_key(row: Dag) -> str:
    """`always`, `perhaps` or `never`; a Dag that cannot be read is not asked for a key."""
    try:
        timetable = listening.timetable_of(row)
    except PartitionError:
        return "never"
    if timetable is None:
        return "never"
    return "always" if timetable.partitioned else "perhaps" if timetable.at_runtime else "never"


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
