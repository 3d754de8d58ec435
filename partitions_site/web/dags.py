"""Dags: the list, one Dag with its runs, and the pause switch."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from core.models import AssetEvent, Dag, Dependency, Outlet
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, found, go, later, sight_of, whole
from partitions_site.web.standings import keys_at
from partitions_site.web.triggering import form, takes_key
from scheduling import board, configuration, ticks
from scheduling.algebra.errors import PartitionError
from scheduling.belonging import Sight
from scheduling.board import HeldFilter, RunFilter
from scheduling.explain import explain

SHOWN_RUNS = 25
SHOWN_HELD = 5

MOST_OWED, MOST_ALIKE = 40_000, 12_000
"""Bytes that the keys which a partition lacks may take, as addresses have them, and those of one line."""

SHOWS = ("paused", "failing")
"""What the list can be narrowed to: `failing` are those whose last run that has ended has failed."""


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
        **form(request, row, now),
    }
    return answer(request, "dags/dag.html", ("dags/_now.html", "dags/_why.html"), context)


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


def _dependencies(dag: Dag) -> list[Dependency]:
    """What it listens to; `is_unheard` where nobody writes that and no event of it has come."""
    writers = Outlet.objects.filter(asset=OuterRef("asset"), dag__is_active=True)
    heard = Exists(writers) | Exists(AssetEvent.objects.filter(asset=OuterRef("asset")))
    return list(dag.dependencies.select_related("asset").annotate(is_unheard=~heard).order_by("pk"))


def _why(request: HtmxRequest, row: Dag, now: datetime) -> dict[str, Any]:
    """What is known of the key that is asked about, if one is; of a Dag without keys, of its next run."""
    key, is_asked = request.GET.get("why", "").strip(), "why" in request.GET
    asked = {"key": key, "is_asked": is_asked, "takes_key": takes_key(row)}
    if not is_asked:
        return asked
    try:
        told = explain(row, key or None, now=now)
        groups = board.together(told.facts, told.verdict)
        first = whole(request.GET.get("row"))
        shown = board.with_room(groups, MOST_OWED, listed=MOST_ALIKE, first=first)
        unexpected = [
            (name, keys, f"{keys_at(told.held, name)}&which=unexpected" if told.held else "")
            for name, keys in told.unexpected
        ]
        return asked | {"explanation": told, "groups": shown, "unexpected": unexpected}
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
