"""Dag runs: the list, one run with its log, and what a person may do with it."""

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from core.models import Asset, Dag, DagRun, LogLine
from partitions_site.templatetags.screens import for_keys
from partitions_site.web import confirm, days, selecting
from partitions_site.web.confirm import Answer, Question
from partitions_site.web.http import (
    HtmxRequest,
    allowed,
    answer,
    back_to,
    deed,
    found,
    later,
    sight_of,
    whole,
)
from scheduling import board, corrections, queueing, without
from scheduling import runs as engine
from scheduling.runs import NotRunnable

CHANGE = "core.change_dagrun"
SHOWN_LINES = 500

ENDS = (
    Answer(
        "success",
        "It succeeded",
        "Its partition shows no failure of it any more. No event is recorded, so nothing downstream counts"
        " it: record one where there is data.",
    ),
    Answer("failed", "It failed", "Its partition is shown failed. What it wrote stays."),
)
"""How a person may say that a run has ended."""

MARKING = "Marking changes what is said of a run. It runs nothing, and writes or takes back no data."


@require_safe
def runs(request: HtmxRequest) -> HttpResponse:
    """All runs, newest first. The rows poll this same address."""
    wanted = selecting.runs_wanted(request)
    after, dags = whole(request.GET.get("after")), Dag.objects.active().filter(wanted.sight.dags())
    context = {
        "wanted": wanted,
        "day": days.named(request.GET.get("day", "")),
        "after": after,
        "page": later(board.runs, wanted, after=after),
        "selected": later(selecting.runs_of, request),
        "matching": later(selecting.all_runs, wanted),
        "states": DagRun.State.values,
        "types": DagRun.Type.choices,
        "dag_ids": later(lambda: list(dags.values_list("dag_id", flat=True))),
    }
    return answer(request, "runs/list.html", "runs/_rows.html", context)


@require_safe
def run(request: HtmxRequest, pk: int) -> HttpResponse:
    """One run: what it was for, what it read and wrote, what it said. Polled until it has ended."""
    row = found(request, DagRun.objects.select_related("dag__source"), pk=pk)
    everything = request.GET.get("log") == "all"
    context = {
        "run": row,
        "writes": later(_writes, request, row),
        "is_open": row.state not in DagRun.FINISHED,
        "kept": queueing.of_every_run(row.dag) if row.state == DagRun.State.QUEUED else None,
        "made_from": later(board.made_from, row),
        "held_run": later(lambda: row.held_runs.first() if row.partition_keys is None else None),
        "without": later(without.fired_without, row),
        "reason": later(board.reason_of, row),
        "produced": later(_produced, row),
        "log": later(_log, row, everything),
    }
    return answer(request, "runs/run.html", "runs/_now.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def retry(request: HtmxRequest, pk: int) -> HttpResponse:
    """Run it once more: same run, next attempt."""
    row = found(request, DagRun.objects.select_related("dag"), CHANGE, pk=pk)
    question = Question(
        title="Run it again?",
        sentences=(
            f"{row.dag} runs again for {for_keys(row)}, as this same run; its log goes on.",
            "If it succeeds, what it writes counts as a fresh event downstream.",
        ),
        button="Run again",
        back=back_to(request, reverse("run", args=[pk])),
    )

    def do() -> tuple[str, str]:
        corrections.retry(row, deed=deed(request), at=timezone.now())
        return question.back, "Queued again."

    return confirm.act(request, question, do)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def cancel(request: HtmxRequest, pk: int) -> HttpResponse:
    """Stop it; nothing is emitted."""
    row = found(request, DagRun.objects.select_related("dag"), CHANGE, pk=pk)
    question = Question(
        title="Cancel this run?",
        sentences=(
            f"{row.dag} stops its work for {for_keys(row)}; it emits no event.",
            "A queued run is cancelled at once, a running one within some seconds.",
        ),
        button="Cancel run",
        back=back_to(request, reverse("run", args=[pk])),
        is_grave=True,
    )

    def do() -> tuple[str, str]:
        engine.cancel(row, deed=deed(request), at=timezone.now())
        return question.back, "Cancelling."

    return confirm.act(request, question, do)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def mark(request: HtmxRequest, pk: int) -> HttpResponse:
    """Say how it ended."""
    row = found(request, DagRun.objects.select_related("dag"), CHANGE, pk=pk)
    is_open = row.state not in DagRun.FINISHED
    question = Question(
        title=f"Mark the run of {row.dag} for {for_keys(row)}?",
        sentences=(
            f"It is {row.state}. {MARKING}",
            *(("Whatever its worker still does for it is not recorded.",) if is_open else ()),
        ),
        button="Mark",
        back=back_to(request, reverse("run", args=[pk])),
        answers=tuple(each for each in ENDS if each.value != row.state),
    )

    def do() -> tuple[str, str]:
        state = request.POST.get("as", "")
        if state not in [each.value for each in question.answers]:
            raise NotRunnable(f"the run is {row.state} by now: say how it ended")
        corrections.mark(row, DagRun.State(state), deed=deed(request), at=timezone.now())
        return question.back, f"Marked as {state}."

    return confirm.act(request, question, do)


def _writes(request: HtmxRequest, row: DagRun) -> list[str]:
    """The assets that its Dag writes, of those that are shown: its key is a partition of each."""
    shown = Asset.objects.filter(sight_of(request).assets(), outlets__dag=row.dag_id)
    return list(shown.distinct().order_by("name").values_list("name", flat=True))


def _produced(row: DagRun) -> list[tuple[str, list[str]]]:
    """The keys of the events that it emitted, per asset."""
    by_asset: dict[str, list[str]] = {}
    for name, key in row.produced.order_by("id").values_list("asset__name", "partition_key"):
        by_asset.setdefault(name, []).extend([key] if key else [])
    return list(by_asset.items())


def _log(row: DagRun, everything: bool) -> dict[str, Any]:
    """The last lines, or all; with the number of those left out above."""
    lines = LogLine.objects.filter(run=row).order_by("-id")
    shown = list(lines if everything else lines[: SHOWN_LINES + 1])
    cut = not everything and len(shown) > SHOWN_LINES
    told = shown[:SHOWN_LINES][::-1] if cut else shown[::-1]
    return {"lines": told, "attempts": board.by_attempt(row, told), "is_cut": cut}
