"""Dags: the list, one Dag with its runs, the trigger form and the pause switch."""

import secrets
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from core.models import Dag
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, go, later
from scheduling import board, configuration, listening, runs
from scheduling import meaning as meanings
from scheduling.algebra.errors import PartitionError
from scheduling.board import HeldFilter, RunFilter
from scheduling.runs import Ask, DuplicateRunId

SHOWN_RUNS = 25
SHOWN_HELD = 5


@require_safe
def dags(request: HtmxRequest) -> HttpResponse:
    """Every Dag in one line. The rows poll this same address."""
    words = request.GET.get("q", "").strip()
    context = {"words": words, "lines": later(_lines, words)}
    return answer(request, "dags/list.html", "dags/_rows.html", context)


@require_safe
def dag(request: HtmxRequest, dag_id: str) -> HttpResponse:
    """One Dag. What moves polls this same address; the trigger form beside it does not."""
    now = timezone.now()
    row = get_object_or_404(Dag.objects.select_related("source"), dag_id=dag_id)
    context = {
        "now": now,
        "dag": row,
        "line": later(lambda: board.lines([row])[0]),
        "ticks": later(board.next_ticks, row, now=now),
        "page": later(board.runs, RunFilter(dag=dag_id), size=SHOWN_RUNS),
        "held": later(board.held_runs, HeldFilter(dag=dag_id), now=now, size=SHOWN_HELD),
        "dependencies": later(lambda: list(row.dependencies.select_related("asset").order_by("pk"))),
        "outlets": later(lambda: list(row.outlets.select_related("asset").order_by("asset__name"))),
        **_form(request, row, now),
    }
    return answer(request, "dags/dag.html", "dags/_now.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_dagrun")
def trigger(request: HtmxRequest) -> HttpResponse:
    """Run a Dag by hand, for one key if its runs have one."""
    given = request.POST if request.method == "POST" else request.GET
    row = get_object_or_404(Dag, dag_id=given.get("dag", ""))
    context = {"dag": row, **_form(request, row, timezone.now())}
    if request.method != "POST":
        return answer(request, "dags/trigger.html", "dags/_dialog.html", context)
    key, run_id = given.get("key", ""), given.get("run_id") or None
    settle = "asked_to_settle" not in given or "settle" in given
    ask = Ask(key or None, run_id=run_id, note=given.get("note", "")[:1000], settle_held=settle)
    try:
        _check_needed(context, key)
        run = runs.trigger(row, ask, deed=deed(request), at=timezone.now())
    except DuplicateRunId:
        # The same form sent twice: the first one made the run.
        return go(request, reverse("run", args=[row.runs.get(run_id=run_id).pk]))
    except PartitionError as error:
        context |= {"problem": str(error)}
        return answer(request, "dags/trigger.html", "dags/_dialog.html", context, status=422)
    messages.success(request, f"Triggered {row.dag_id}{f' for {key}' if key else ''}.")
    return go(request, reverse("run", args=[run.pk]))


@require_safe
def meaning(request: HtmxRequest) -> HttpResponse:
    """What a typed key means, in words, before it is sent."""
    row = get_object_or_404(Dag, dag_id=request.GET.get("dag", ""))
    return answer(request, "dags/_means.html", "dags/_means.html", _meaning(row, request.GET.get("key", "")))


@require_POST
@allowed("core.change_dag")
def pause(request: HtmxRequest) -> HttpResponse:
    """Pause a Dag, or let it run again."""
    row = get_object_or_404(Dag, dag_id=request.POST.get("dag", ""))
    paused = request.POST.get("paused") == "yes"
    configuration.set_paused(row, paused, deed=deed(request), at=timezone.now())
    said = (
        "is paused: events are counted, nothing starts"
        if paused
        else "runs again; what is complete starts now"
    )
    messages.success(request, f"{row.dag_id} {said}.")
    return go(request, reverse("dag", args=[row.dag_id]))


class KeyNeeded(PartitionError):
    """A Dag whose every run is for one key was triggered without one."""


def _check_needed(form: dict[str, Any], key: str) -> None:
    if form["takes_key"] == "always" and not key:
        raise KeyNeeded(f"say for which partition key to run {form['dag'].dag_id}")


def _lines(words: str) -> list[board.DagLine]:
    rows = Dag.objects.active().order_by("dag_id")
    return board.lines(list(rows.filter(dag_id__icontains=words) if words else rows))


def _form(request: HtmxRequest, row: Dag, now: datetime) -> dict[str, Any]:
    """What the trigger form shows. A run id made here turns a double click into one run."""
    given = request.POST if request.method == "POST" else request.GET
    key = given.get("key", "")
    return {
        "takes_key": _takes_key(row),
        "key": key,
        "key_format": later(_key_format, row),
        "run_id": given.get("run_id") or f"manual__{now:%Y-%m-%dT%H:%M:%S}+00:00__{secrets.token_hex(4)}",
        "suggestions": later(board.suggestions, row, now=now),
        "means": later(_meaning, row, key),
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


def _meaning(row: Dag, key: str) -> dict[str, Any]:
    if not key:
        return {"key": "", "dag": row}
    try:
        return {"key": key, "dag": row, "meaning": meanings.of_key(row, key)}
    except PartitionError as error:
        return {"key": key, "dag": row, "wrong": str(error)}
