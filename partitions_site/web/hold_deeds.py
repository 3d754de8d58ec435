"""What a person may do about a held run: fire it now, or cancel it."""

from collections.abc import Iterator

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import HeldRun
from partitions_site.web import confirm
from partitions_site.web.confirm import Question
from partitions_site.web.holds import row_of, verdict_of
from partitions_site.web.http import HtmxRequest, allowed, back_to, deed
from scheduling import holds as engine
from scheduling import queueing
from scheduling.algebra.verdicts import Verdict

CHANGE = "core.change_heldrun"


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def fire(request: HtmxRequest, pk: int) -> HttpResponse:
    """Fire it now with what it has."""
    row = row_of(request, pk, CHANGE)
    question = Question(
        title="Fire now?",
        sentences=(
            f"{row.dag} runs{_for_key(row)} as soon as a worker is free.",
            *(each.sentence for each in queueing.of_dag(row.dag)),
            *_lacking(verdict_of(row)),
        ),
        button="Fire now",
        back=_back(request, pk),
    )

    def do() -> tuple[str, str]:
        run = engine.fire_now(row, deed=deed(request), at=timezone.now())
        return back_to(request, reverse("run", args=[run.pk])), f"Fired: {row.dag} runs{_for_key(row)}."

    return confirm.act(request, question, do, lambda: _over(request, pk))


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def cancel(request: HtmxRequest, pk: int) -> HttpResponse:
    """Close it without a run."""
    row = row_of(request, pk, CHANGE)
    question = Question(
        title="Cancel this held run?",
        sentences=(
            f"{row.dag} will not run{_for_key(row)} with what has arrived so far.",
            f"The next event{' for this key' if row.partition_key else ''} opens a new round, "
            "and data that is there counts again.",
        ),
        button="Cancel held run",
        back=_back(request, pk),
        is_grave=True,
    )

    def do() -> tuple[str, str]:
        engine.cancel(row, deed=deed(request), at=timezone.now())
        return question.back, f"Cancelled: {_name(row)} is not held any more."

    return confirm.act(request, question, do, lambda: _over(request, pk))


def _over(request: HtmxRequest, pk: int) -> Question | None:
    """What there is to say of one that somebody, or the engine, has closed."""
    row = row_of(request, pk)
    if row.state == HeldRun.State.HELD:
        return None
    run = row.run
    return Question(
        title="It is not held any more",
        sentences=(f"{_name(row)}: {row.state}{f' by {row.closed_by}' if row.closed_by else ''}.",),
        button="",
        back=_back(request, pk),
        leads_to=(reverse("run", args=[run.pk]), f"Its run: {run.state}") if run else None,
    )


def _back(request: HtmxRequest, pk: int) -> str:
    """Where the person came from, or else the held run itself."""
    return back_to(request, reverse("held_run", args=[pk]))


def _lacking(verdict: Verdict) -> Iterator[str]:
    """Without what it would run: keys by name, and assets of which nothing has come."""
    missing = [f"{each.leaf.words()}: {each.sentence()}" for each in verdict.progress if each.missing]
    if missing:
        yield f"It runs without {'; '.join(missing)}. The run records which keys were missing."
    absent = [
        each.leaf.words()
        for each in verdict.progress
        if not (each.satisfied or each.missing or each.received or each.error)
    ]
    if absent:
        yield f"It runs without {' and '.join(absent)}, of which nothing has come."


def _for_key(row: HeldRun) -> str:
    return f" for {row.partition_key}" if row.partition_key else ""


def _name(row: HeldRun) -> str:
    return f"{row.dag} {row.partition_key}".rstrip()
