"""A deed done to several rows of a list: asked once, done to each, and told where it was refused."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.urls import reverse
from django_htmx.http import trigger_client_event

from core.models import DagRun, HeldRun
from partitions_site import refusals, tracing
from partitions_site.web import confirm
from partitions_site.web.confirm import Part, Question
from partitions_site.web.http import SHOWN, HtmxRequest, answer, go, sight_of
from partitions_site.web.selecting import MOST, Selected, by_dag, key_of
from scheduling import several
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.phrases import some
from scheduling.several import Outcome

Row = TypeVar("Row", bound=DagRun | HeldRun)

SEEN = re.compile(r"([0-9]{1,18})\.([a-z]{1,20})\.([0-9]{1,9})")
"""One that was asked about: its number, its state, its attempt."""

SCREENS: dict[type, str] = {DagRun: "run", HeldRun: "held_run"}


class NotDone(PartitionError):
    """It is not done to one, or to none: the sentence says why."""


@dataclass(frozen=True, slots=True)
class Meant(Generic[Row]):
    """The rows that a deed is for; `seen` is what was shown of each when it was asked about.

    `gone`: how many of them are not there any more. `is_cut`: more than so many matched.
    """

    rows: list[Row]
    seen: dict[int, tuple[str, int]]
    gone: int = 0
    is_cut: bool = False

    @property
    def these(self) -> str:
        return " ".join(f"{pk}.{state}.{attempt}" for pk, (state, attempt) in self.seen.items())


@dataclass(frozen=True, slots=True)
class Deed(Generic[Row]):
    """`do` does it to one; `why_not` says beforehand why it would not, or nothing.

    `do_all` does it to those of many to which it can simply be done (`several.in_portions`).

    `done`: what one has become, as in `2 runs queued again`; `noun`: what they are.
    """

    right: str
    noun: str
    done: str
    do: Callable[[Row], object]
    why_not: Callable[[Row], str]
    do_all: Callable[[Sequence[Row]], Collection[int]] = lambda rows: ()


def meant(request: HtmxRequest, selected: Callable[[HtmxRequest], Selected[Row]], rows: Any) -> Meant[Row]:
    """What the address selects, when it is asked; those that were asked about, when it is answered."""
    if request.method != "POST":
        found = selected(request)
        seen = {row.pk: (row.state, getattr(row, "attempt", 0)) for row in found.rows}
        return Meant(found.rows, seen, is_cut=found.is_cut)
    named = SEEN.findall(request.POST.get("these", ""))[:MOST]
    seen = {int(pk): (state, int(attempt)) for pk, state, attempt in named}
    shown = rows.filter(SHOWN[rows.model](sight_of(request)), pk__in=list(seen)).select_related("dag")
    there = list(shown.order_by("pk"))
    return Meant(there, seen, gone=len(seen) - len(there))


def act(
    request: HtmxRequest, these: Meant[Row], deed: Deed[Row], ask: Callable[[list[Row]], Question]
) -> HttpResponse:
    """Ask on GET, act on POST: each by itself.

    :param ask: the question about those to which it can be done, without the others, which are told here.
    """
    reasons = _reasons(request, these, deed)
    question = _with_others(these, deed, reasons, ask([row for row in these.rows if not reasons[row.pk]]))
    if request.method != "POST":
        return confirm.ask(request, question)
    if not these.seen:
        problem = f"Nothing is selected: go back and select {deed.noun}s."
        return confirm.ask(request, question, problem=problem, status=422)

    def do(row: Row) -> None:
        if reasons[row.pk]:
            raise NotDone(reasons[row.pk])
        deed.do(row)

    def do_all(rows: Sequence[Row]) -> Collection[int]:
        return deed.do_all([row for row in rows if not reasons[row.pk]])

    outcome = several.in_portions(these.rows, do_all, do)
    if outcome.refused or these.gone:
        return _tell(request, outcome, these, deed, question.back)
    messages.success(request, f"{some(len(outcome.done), deed.noun)} {deed.done}.")
    return go(request, question.back)


def parts_of(rows: Sequence[Row], noun: str) -> tuple[Part, ...]:
    """Each Dag with the keys that a deed is done to."""
    return tuple(
        Part(f"{dag_id}: {some(len(keys), noun)}", tuple(keys)) for dag_id, keys in by_dag(rows).items()
    )


def name_of(row: DagRun | HeldRun) -> tuple[str, str]:
    """What it is called, and where it is shown."""
    return f"{row.dag.dag_id} {key_of(row)}", reverse(SCREENS[type(row)], args=[row.pk])


def _reasons(request: HtmxRequest, these: Meant[Row], deed: Deed[Row]) -> dict[int, str]:
    """Why it is not done to a row; empty for those to which nothing speaks against it. Rights go by Dag.

    :raises Http404: if none of those that were asked about is shown.
    :raises PermissionDenied: if it may be done to none, as for one.
    """
    if these.seen and not these.rows:
        raise Http404
    dags = {row.dag_id: row for row in these.rows}
    barred = {
        dag: refusals.why_not(request.user, deed.right, row)
        for dag, row in dags.items()
        if not request.user.has_perm(deed.right, row)
    }
    if dags and len(barred) == len(dags):
        raise PermissionDenied(next(iter(barred.values())))
    return {row.pk: barred.get(row.dag_id) or deed.why_not(row) for row in these.rows}


def _with_others(these: Meant[Row], deed: Deed[Row], reasons: dict[int, str], question: Question) -> Question:
    """`question` with those that are left out, and why; nothing to do if that is all of them."""
    left_out = tuple(f"{name_of(row)[0]}: {reasons[row.pk]}" for row in these.rows if reasons[row.pk])
    cut = (f"More match: these are {MOST:,}, as many as are selected at once.",) if these.is_cut else ()
    head = f"Left out: {some(len(left_out), deed.noun)}"
    if len(left_out) == len(these.rows):
        question = replace(question, title="There is nothing to do", sentences=(), button="", answers=())
    return replace(
        question,
        sentences=(*question.sentences, *cut),
        parts=(*question.parts, *((Part(head, left_out, is_left_out=True),) if left_out else ())),
        these=these.these,
    )


def _tell(
    request: HtmxRequest, outcome: Outcome[Row], these: Meant[Row], deed: Deed[Row], back: str
) -> HttpResponse:
    """How many it was done to, and of each other one why it was not: those stay selected."""
    kept = ",".join(map(str, _listed([row for row, _ in outcome.refused])))
    if kept:
        back += f"{'&' if '?' in back else '?'}sel={kept}"
    context = {
        "done": f"{some(len(outcome.done), deed.noun)} {deed.done}",
        "count": len(outcome.done),
        "refused": [(*name_of(row), why) for row, why in outcome.refused],
        "gone": these.gone,
        "kept": kept,
        "noun": deed.noun,
        "back": back,
        "journal": f"{reverse('journal')}?{urlencode({'request': tracing.current()})}",
    }
    response = answer(request, "outcomes/page.html", "outcomes/_dialog.html", context)
    return trigger_client_event(response, "changed", after="swap") if request.htmx else response


def _listed(rows: Sequence[Row]) -> list[int]:
    """The numbers of those that are in their list still: what is held no more is not."""
    if not rows:
        return []
    model: Any = type(rows[0])
    found = model.objects.held() if model is HeldRun else model.objects.all()
    return sorted(found.filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True))
