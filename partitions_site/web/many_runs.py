"""What a person may do with several runs at once: run them again, cancel them, say how they ended."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import DagRun
from partitions_site.web import several
from partitions_site.web.confirm import Question
from partitions_site.web.http import HtmxRequest, allowed, back_to, deed
from partitions_site.web.runs import CHANGE, ENDS, MARKING
from partitions_site.web.selecting import runs_of
from partitions_site.web.several import Deed
from scheduling import at_once, corrections
from scheduling import runs as engine
from scheduling.algebra.phrases import some
from scheduling.several import as_seen, check_not_asked

METHODS = ["GET", "HEAD", "POST"]


@require_http_methods(METHODS)
@allowed(CHANGE)
def retry(request: HtmxRequest) -> HttpResponse:
    """Run several once more: the same runs, their next attempts."""
    these, said = several.meant(request, runs_of, DagRun.objects), deed(request)

    def do(run: DagRun) -> None:
        as_seen(run, *these.seen[run.pk], lambda: corrections.retry(run, deed=said, at=timezone.now()))

    def do_all(runs: Sequence[DagRun]) -> set[int]:
        return at_once.retry(runs, these.seen, deed=said, at=timezone.now())

    def ask(rows: list[DagRun]) -> Question:
        return Question(
            title=f"Run {some(len(rows), 'run')} again?",
            sentences=(
                "Each runs again for its key, as the same run; its log goes on.",
                "If it succeeds, what it writes counts as a fresh event downstream.",
            ),
            button=f"Run {some(len(rows), 'run')} again",
            back=back_to(request, reverse("runs")),
            parts=several.parts_of(rows, "run"),
        )

    asked = Deed(CHANGE, "run", "queued again", do, _has_not_ended, do_all)
    return several.act(request, these, asked, ask)


@require_http_methods(METHODS)
@allowed(CHANGE)
def cancel(request: HtmxRequest) -> HttpResponse:
    """Stop several; nothing is emitted."""
    these, said = several.meant(request, runs_of, DagRun.objects), deed(request)

    def do(run: DagRun) -> None:
        check_not_asked(run)
        engine.cancel(run, deed=said, at=timezone.now())

    def do_all(runs: Sequence[DagRun]) -> set[int]:
        return at_once.cancel_queued(runs, deed=said, at=timezone.now())

    def ask(rows: list[DagRun]) -> Question:
        return Question(
            title=f"Cancel {some(len(rows), 'run')}?",
            sentences=(
                "Each stops its work for its key and emits no event.",
                "Those that are queued are cancelled at once, those that run within some seconds.",
            ),
            button=f"Cancel {some(len(rows), 'run')}",
            back=back_to(request, reverse("runs")),
            is_grave=True,
            parts=several.parts_of(rows, "run"),
        )

    asked = Deed(CHANGE, "run", "cancelled, or asked to stop", do, _has_ended, do_all)
    return several.act(request, these, asked, ask)


@require_http_methods(METHODS)
@allowed(CHANGE)
def mark(request: HtmxRequest) -> HttpResponse:
    """Say how several ended."""
    these, said = several.meant(request, runs_of, DagRun.objects), deed(request)
    state = request.POST.get("as", "")
    if state not in [each.value for each in ENDS]:
        state = ""

    def do(run: DagRun) -> None:
        at = timezone.now()
        as_seen(
            run,
            *these.seen[run.pk],
            lambda: corrections.mark(run, DagRun.State(state), deed=said, at=at),
        )

    def why_not(run: DagRun) -> str:
        if request.method == "POST" and not state:
            return "nobody said how it ended"
        return f"it is {state} already" if run.state == state else ""

    def ask(rows: list[DagRun]) -> Question:
        is_open = any(run.state not in DagRun.FINISHED for run in rows)
        return Question(
            title=f"Mark {some(len(rows), 'run')}?",
            sentences=(
                MARKING,
                "Those that are so already are left as they are.",
                *(
                    ("Whatever a worker still does for one that has not ended is not recorded.",)
                    if is_open
                    else ()
                ),
            ),
            button=f"Mark {some(len(rows), 'run')}",
            back=back_to(request, reverse("runs")),
            answers=ENDS,
            parts=several.parts_of(rows, "run"),
        )

    asked = Deed(CHANGE, "run", f"marked as {state}", do, why_not)
    return several.act(request, these, asked, ask)


def _has_not_ended(run: DagRun) -> str:
    return "" if run.state in DagRun.FINISHED else f"it is {run.state}: it can be cancelled, not run again"


def _has_ended(run: DagRun) -> str:
    return f"it is {run.state}: there is nothing to cancel" if run.state in DagRun.FINISHED else ""
