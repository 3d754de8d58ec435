"""Partitions that are selected are marked by hand: they have data, or they have none. One is wiped."""

from collections.abc import Sequence
from hashlib import blake2b
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import Asset, AssetEvent
from partitions_site import refusals
from partitions_site.web import confirm
from partitions_site.web.confirm import Question
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, found, go, whole
from scheduling import board, dynamic, events, wiping
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.phrases import some
from scheduling.board import Choice, Look
from scheduling.events import EventReport

Looks = Sequence[tuple[str, Look]]

MOST = 1000
"""Partitions that are marked at once."""

WIPEABLE = (Look.MATERIALIZED, Look.STALE, Look.FAILED, Look.RUNNING)
"""Looks of partitions that may have data; of the others it is known that they have none."""

WIPE = "core.delete_partition"
PARTS = ("marks/page.html", "marks/_dialog.html")


class NotMarked(PartitionError):
    """Nothing is marked: what was asked is not what it was, or too much."""


@require_http_methods(["GET", "HEAD", "POST"])
@allowed("core.add_assetevent")
def mark(request: HtmxRequest) -> HttpResponse:
    """Say what marking does to which partitions; then do it, and go back to the selection."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Asset.objects.active(), "core.add_assetevent", name=given.get("asset", ""))
    text, word = given.get("sel", "").strip(), given.get("only", "")
    cells = board.read([row], now=timezone.now())[row.pk].cells
    only = next((look for look in Look if look.word == word), None)
    choice = board.choose(row, cells, text, only, now=timezone.now())
    asked = {"sel": text} | ({"only": only.word} if only else {})
    problem = choice.wrong or _too_many(choice)
    looks = [] if problem else board.chosen(cells, choice)
    context = {
        "asset": row,
        "choice": choice,
        "which": _digest(looks),
        "only": only.word if only else "",
        "as_missing": given.get("as") == "missing",
        "may_wipe": request.user.has_perm(WIPE, row),
        "problem": problem,
        "back": f"{reverse('asset', args=[row.name])}?{urlencode(asked)}",
    }
    if request.method != "POST" or problem:
        return answer(request, *PARTS, context, status=422 if request.method == "POST" else 200)
    try:
        sentence = _mark(request, row, looks)
    except PartitionError as refusal:
        return answer(request, *PARTS, context | {"problem": str(refusal)}, status=409)
    messages.success(request, sentence)
    return go(request, str(context["back"]))


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(WIPE)
def wipe(request: HtmxRequest) -> HttpResponse:
    """Take the data of one partition back, of one that the definition does not have, too."""
    row, key = (
        found(request, Asset.objects, WIPE, name=request.GET.get("asset", "")),
        request.GET.get("key", ""),
    )
    at = timezone.now()
    stray = "" if dynamic.expects(row, key, at) else " It is not in the definition."
    question = Question(
        title="Wipe this partition?",
        sentences=(
            f"{row.name} has no data for {key} any more.{stray}",
            "Open held runs no longer count it; its events stay as history, and what has fired stays fired.",
        ),
        button="Wipe",
        back=f"{reverse('asset', args=[row.name])}?{urlencode({'key': key})}",
        is_grave=True,
    )

    def do() -> tuple[str, str]:
        wiping.wipe(row, [key], deed=deed(request), at=at)
        return question.back, f"Wiped {key} of {row.name}."

    return confirm.act(request, question, do)


def _too_many(choice: Choice) -> str:
    if choice.count > MOST:
        return f"{choice.count:,} partitions are selected: {MOST:,} at most are marked at once"
    return "" if choice.count else "No partition is selected."


def _digest(looks: Looks) -> str:
    """Names the partitions that are selected; no key holds a line break."""
    return blake2b("\n".join(key for key, _ in looks).encode(), digest_size=12).hexdigest()


def _mark(request: HtmxRequest, row: Asset, looks: Looks) -> str:
    """Do it, and say what was done."""
    if request.POST.get("which") != _digest(looks):
        shown = whole(request.POST.get("count"))
        now = "others" if len(looks) == shown else some(len(looks), "partition")
        raise NotMarked(f"the selection means {now} by now: nothing was marked")
    if request.POST.get("as") == "missing":
        return _take_data(request, row, [key for key, look in looks if look in WIPEABLE])
    reports = [EventReport(row, key, {"recorded_by_hand": True}) for key, _ in looks]
    events.register_events(reports, source=AssetEvent.Source.PERSON, deed=deed(request), at=timezone.now())
    return f"Marked {some(len(reports), 'partition')} of {row.name} as having data."


def _take_data(request: HtmxRequest, row: Asset, keys: list[str]) -> str:
    if not request.user.has_perm(WIPE, row):
        raise NotMarked(f"that takes {refusals.what_it_takes(request.user, WIPE, row)}")
    wiped = wiping.wipe(row, keys, deed=deed(request), at=timezone.now())
    return f"Marked {some(len(wiped), 'partition')} of {row.name} as having no data."
