"""Backfills: the list, one of them with all its keys, and what a person may do with it."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from core.models import Backfill, Dag
from partitions_site.web import confirm, planning
from partitions_site.web.confirm import Question
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, found, later, sight_of, whole
from scheduling import backfills as engine
from scheduling import board
from scheduling.algebra.phrases import some
from scheduling.board import BackfillFilter, PlannedKey, Progress
from scheduling.journal import Deed

CHANGE = "core.change_backfill"
SHOWN_FAILED = 25
LISTED = 100
"""Keys on one page of the list of those in one state."""

FAILED = ("failed", "blocked")

Act = Callable[[Backfill, Deed, datetime], object]


@require_safe
def backfills(request: HtmxRequest) -> HttpResponse:
    """All backfills, newest first. The rows poll this same address."""
    wanted = BackfillFilter(
        request.GET.get("dag", ""), only_open=request.GET.get("show") == "open", sight=sight_of(request)
    )
    after, dags = whole(request.GET.get("after")), Dag.objects.active().filter(wanted.sight.dags())
    context = {
        "wanted": wanted,
        "after": after,
        "page": later(_page, wanted, after),
        "dag_ids": later(lambda: list(dags.values_list("dag_id", flat=True))),
    }
    return answer(request, "backfills/list.html", "backfills/_rows.html", context)


@require_safe
def backfill(request: HtmxRequest, pk: int) -> HttpResponse:
    """One backfill, polled until nothing of it is open; with `state`, its keys in that state."""
    now = timezone.now()
    row = found(request, Backfill.objects, pk=pk)
    states = later(board.states_of, row)
    wanted = request.GET.get("state", "")
    wanted = wanted if wanted in board.STANDINGS else ""
    how = board.progress([row])[pk]
    context = {
        "now": now,
        "backfill": row,
        "which": planning.which_of(row),
        "how": how,
        "left": later(board.time_left, how, now),
        "states": states,
        "wanted": wanted,
        "keys": later(_keys, request, row, wanted),
        "failed": later(_failed, row),
    }
    return answer(request, "backfills/backfill.html", "backfills/_now.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def pause(request: HtmxRequest, pk: int) -> HttpResponse:
    """Start no more runs of it for now."""
    how = _progress(request, pk)
    question = Question(
        title="Pause this backfill?",
        sentences=(
            f"{_to_do(how)}; none of them starts while it is paused.",
            "Runs that are under way finish, and it can be resumed at any time.",
        ),
        button="Pause",
        back=_page_of(pk),
    )
    return _do(request, question, pk, _as_deed(engine.pause), "Paused.", _is_open)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def resume(request: HtmxRequest, pk: int) -> HttpResponse:
    """Let it go on; of a cancelled one, with what was not done."""
    how = _progress(request, pk)
    undone = how.open or how.failed + how.cancelled
    question = Question(
        title="Resume this backfill?",
        sentences=(f"It goes on with what is not done: {some(undone, 'key')}.",),
        button="Resume",
        back=_page_of(pk),
    )
    return _do(
        request,
        question,
        pk,
        _as_deed(engine.resume),
        "Going on.",
        lambda how: _is_open(how) or (how.backfill.cancelled_at and how.failed + how.cancelled),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def cancel(request: HtmxRequest, pk: int) -> HttpResponse:
    """Start nothing more of it."""
    how = _progress(request, pk)
    question = Question(
        title="Cancel this backfill?",
        sentences=(
            f"{_to_do(how)}: those that have not started never will.",
            "Runs that are under way finish and count; queued ones are cancelled. What is done stays done.",
        ),
        button="Cancel backfill",
        back=_page_of(pk),
        is_grave=True,
    )
    act = _as_deed(engine.cancel)
    return _do(request, question, pk, act, "Cancelled: nothing more starts.", _is_open)


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def retry(request: HtmxRequest, pk: int) -> HttpResponse:
    """Run again what failed, and what did not run because of that."""
    how = _progress(request, pk)
    question = Question(
        title="Try again what failed?",
        sentences=(
            f"{how.failed} of its keys run once more; what is done is left as it is.",
            *(("It is paused: nothing starts until somebody resumes it.",) if _is_paused(how) else ()),
        ),
        button="Try again",
        back=_page_of(pk),
    )

    def act(row: Backfill, by: Deed, at: datetime) -> str:
        count = engine.retry_failed(row, deed=by, at=at)
        if not count:
            return "Nothing can run: each key says anew why."
        when = " when it is resumed" if _is_paused(how) else ""
        return f"Trying again {some(count, 'key')}{when}."

    return _do(request, question, pk, act, "", lambda how: how.failed)


def _as_deed(act: Callable[..., object]) -> Act:
    return lambda row, by, at: act(row, deed=by, at=at)


def _do(
    request: HtmxRequest, question: Question, pk: int, act: Act, said: str, can: Callable[[Progress], object]
) -> HttpResponse:
    def do() -> tuple[str, str]:
        done = act(_progress(request, pk).backfill, deed(request), timezone.now())
        return question.back, said or str(done)

    def over() -> Question | None:
        how = _progress(request, pk)
        return None if can(how) else _nothing_to_do(how)

    return confirm.act(request, question, do, over)


def _is_open(how: Progress) -> bool:
    return how.backfill.completed_at is None and how.backfill.cancelled_at is None


def _is_paused(how: Progress) -> bool:
    return _is_open(how) and how.backfill.is_paused


def _nothing_to_do(how: Progress) -> Question:
    title = "Nothing of it has failed" if _is_open(how) else "This backfill has ended"
    told = f"It stands at {how.word}: {how.words}."
    return Question(title=title, sentences=(told,), button="", back=_page_of(how.backfill.pk))


def _to_do(how: Progress) -> str:
    return f"{how.open} of {some(how.planned, 'key')} still to do"


def _progress(request: HtmxRequest, pk: int) -> Progress:
    """How far the backfill is that somebody wants to do something with, if they may."""
    return board.progress([found(request, Backfill.objects, CHANGE, pk=pk)])[pk]


def _page_of(pk: int) -> str:
    return reverse("backfill", args=[pk])


def _page(wanted: BackfillFilter, after: int) -> dict[str, Any]:
    page = board.backfills(wanted, after=after)
    hows = board.progress(page.rows)
    return {"rows": [hows[row.pk] for row in page.rows], "following": page.following}


def _keys(request: HtmxRequest, row: Backfill, wanted: str) -> board.Excerpt[PlannedKey]:
    first = whole(request.GET.get("row"))
    if wanted:
        return board.keys_of(row, standings=(wanted,), first=first, size=LISTED)
    return board.keys_of(row, first=first)


def _failed(row: Backfill) -> board.Excerpt[PlannedKey]:
    """The first of what failed, so that nobody has to look for it."""
    return board.keys_of(row, standings=FAILED, size=SHOWN_FAILED)
