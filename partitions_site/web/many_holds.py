"""What a person may do about several held runs at once: fire them now, or cancel them."""

from collections.abc import Sequence

from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import HeldRun
from partitions_site.web import several
from partitions_site.web.confirm import Part, Question
from partitions_site.web.hold_deeds import CHANGE
from partitions_site.web.http import HtmxRequest, allowed, back_to, deed
from partitions_site.web.selecting import held_of, key_of
from partitions_site.web.several import Deed
from scheduling import at_once
from scheduling import holds as engine
from scheduling.algebra.phrases import some
from scheduling.algebra.verdicts import Verdict

METHODS = ["GET", "HEAD", "POST"]

NAMED = 100
"""Held runs of which the question says what each lacks."""


@require_http_methods(METHODS)
@allowed(CHANGE)
def fire(request: HtmxRequest) -> HttpResponse:
    """Fire several now, each with what it has."""
    these, said = several.meant(request, held_of, HeldRun.objects), deed(request)

    def do(row: HeldRun) -> None:
        engine.fire_now(row, deed=said, at=timezone.now())

    def do_all(rows: Sequence[HeldRun]) -> set[int]:
        return at_once.fire_now(rows, deed=said, at=timezone.now())

    def ask(rows: list[HeldRun]) -> Question:
        return Question(
            title=f"Fire {some(len(rows), 'held run')} now?",
            sentences=(
                "For each key its Dag runs as soon as a worker is free, with what has come;"
                " that of a Dag which is paused, when it goes on.",
                "Each run records which keys were missing.",
            ),
            button=f"Fire {some(len(rows), 'held run')} now",
            back=back_to(request, reverse("held")),
            parts=_lacking(rows) if request.method != "POST" else (),
        )

    asked = Deed(CHANGE, "held run", "fired", do, _is_over, do_all)
    return several.act(request, these, asked, ask)


@require_http_methods(METHODS)
@allowed(CHANGE)
def cancel(request: HtmxRequest) -> HttpResponse:
    """Close several without a run."""
    these, said = several.meant(request, held_of, HeldRun.objects), deed(request)

    def do(row: HeldRun) -> None:
        engine.cancel(row, deed=said, at=timezone.now())

    def do_all(rows: Sequence[HeldRun]) -> set[int]:
        return at_once.cancel_held(rows, deed=said, at=timezone.now())

    def ask(rows: list[HeldRun]) -> Question:
        return Question(
            title=f"Cancel {some(len(rows), 'held run')}?",
            sentences=(
                "For none of these keys does its Dag run with what has arrived so far.",
                "The next event for one of them opens a new round, and data that is there counts again.",
            ),
            button=f"Cancel {some(len(rows), 'held run')}",
            back=back_to(request, reverse("held")),
            is_grave=True,
            parts=several.parts_of(rows, "held run"),
        )

    asked = Deed(CHANGE, "held run", "cancelled", do, _is_over, do_all)
    return several.act(request, these, asked, ask)


def _is_over(row: HeldRun) -> str:
    if row.state == HeldRun.State.HELD:
        return ""
    return f"it is not held any more: {row.state}{f' by {row.closed_by}' if row.closed_by else ''}"


def _lacking(rows: list[HeldRun]) -> tuple[Part, ...]:
    """Each Dag with its keys, and without what each of them fires."""
    named = rows[:NAMED]
    lines: dict[str, list[str]] = {}
    verdicts = engine.assess(named, now=timezone.now())
    for row in named:
        lines.setdefault(row.dag.dag_id, []).append(f"{key_of(row)} {_without(verdicts[row.pk])}".rstrip())
    parts = [Part(f"{dag_id}: {some(len(keys), 'held run')}", tuple(keys)) for dag_id, keys in lines.items()]
    rest = several.parts_of(rows[NAMED:], "held run")
    return (*parts, *(Part(f"And of {part.head}", part.lines) for part in rest))


def _without(verdict: Verdict) -> str:
    """`without hourly: 3 of 24: hours 09, 11, 22`; empty for what has all."""
    lacks = [f"{each.leaf.words()}: {each.sentence()}" for each in verdict.progress if each.missing]
    lacks += [
        f"{each.leaf.words()}, of which nothing has come"
        for each in verdict.progress
        if not (each.satisfied or each.missing or each.received or each.error)
    ]
    return f"without {'; '.join(lacks)}" if lacks else ""
