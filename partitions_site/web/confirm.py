"""A question before a deed: a dialog where scripts run, a page where they do not, and the deed itself."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse

from partitions_site.web.http import HtmxRequest, answer, go
from scheduling.algebra.errors import PartitionError


@dataclass(frozen=True, slots=True)
class Answer:
    """One of several ways to say yes: what is sent, its name, and what it does."""

    value: str
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class Part:
    """Some of several things that a deed is done to: what they have in common, and each of them in words."""

    head: str
    lines: tuple[str, ...]
    is_left_out: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: the deed on the button, what it will do, and where to go if the answer is no.

    `answers` are the ways in which it can be done, the usual one first. Without a `button` there is nothing
    to do any more; `leads_to` is the address and the name of what came of it. A deed that is done to several
    things names them in `parts`; `these` says to the answer which they are.
    """

    title: str
    sentences: tuple[str, ...]
    button: str
    back: str
    is_grave: bool = False
    asks_reason: bool = True
    answers: tuple[Answer, ...] = ()
    leads_to: tuple[str, str] | None = None
    parts: tuple[Part, ...] = ()
    these: str = ""


class NotMeant(PartitionError):
    """A key that somebody may have typed by mistake, and has not said to mean."""


def check_meant(doubt: str, given: Mapping[str, str], then: str) -> None:
    """:raises NotMeant: if there is a `doubt` about a key, and no tick that it is meant."""
    if doubt and given.get("on_purpose") != "yes":
        raise NotMeant(f"{doubt}. Tick that you mean it, and {then}")


def ask(request: HtmxRequest, question: Question, *, problem: str = "", status: int = 200) -> HttpResponse:
    context = {"question": question, "problem": problem}
    return answer(request, "confirm/page.html", "confirm/_dialog.html", context, status=status)


def act(
    request: HtmxRequest,
    question: Question,
    deed: Callable[[], tuple[str, str]],
    over: Callable[[], Question | None] = lambda: None,
) -> HttpResponse:
    """Ask on GET, act on POST.

    :param deed: does it and returns where to go on and what to say there; a `PartitionError` is shown.
    :param over: what to show instead of `question` where there is nothing to do any more.
    """
    if request.method != "POST":
        return ask(request, over() or question)
    try:
        address, sentence = deed()
    except PartitionError as error:
        return ask(request, over() or question, problem=str(error), status=409)
    messages.success(request, sentence)
    return go(request, address)
