"""Keys of dynamic partitions, added and removed by hand."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from core.models import Asset, DynamicKey
from partitions_site import grants
from partitions_site.web import confirm
from partitions_site.web.confirm import Question, check_meant
from partitions_site.web.http import HtmxRequest, allowed, answer, deed, found, go
from scheduling import dynamic
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.phrases import some

ADD, CHANGE = "core.add_dynamickey", "core.change_dynamickey"


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(ADD)
def add(request: HtmxRequest) -> HttpResponse:
    """Add keys, one a line; then show the first of them."""
    given = request.POST if request.method == "POST" else request.GET
    row = found(request, Asset.objects.active(), ADD, name=given.get("asset", ""))
    names = dynamic.names_of(row)
    context = {"asset": row, "names": names, "keys": given.get("keys", ""), "problem": "", "doubt": ""}
    context["back"] = reverse("asset", args=[row.name])
    parts = ("keys/add.html", "keys/_dialog.html")
    if request.method != "POST":
        return answer(request, *parts, context)
    name, wanted = given.get("name") or "".join(names[:1]), _lines(given.get("keys", ""))
    try:
        if not wanted:
            raise InvalidKey("say which keys to add, one a line")
        _check_all(request, ADD, name)
        context["doubt"] = _doubt(wanted)
        check_meant(context["doubt"], given, "add again")
        added = dynamic.add(name, wanted, deed=deed(request), at=timezone.now())
    except PartitionError as error:
        return answer(request, *parts, context | {"problem": str(error)}, status=422)
    there = len(wanted) - len(added)
    already = f" {there} {'was' if there == 1 else 'were'} there already." if there else ""
    messages.success(request, f"Added {some(len(added), 'key')}.{already}")
    shown = {"key": wanted[0]} if is_removable(row, wanted[0]) else {}
    return go(request, f"{reverse('asset', args=[row.name])}?{urlencode(shown)}")


@require_http_methods(["GET", "HEAD", "POST"])
@allowed(CHANGE)
def remove(request: HtmxRequest) -> HttpResponse:
    """Take one key away; what happened to it stays."""
    row = found(request, Asset.objects.active(), CHANGE, name=request.GET.get("asset", ""))
    key = request.GET.get("key", "")
    question = Question(
        title="Remove this key?",
        sentences=(
            f"{row.name} is not expected to have {key} any more.",
            "Its events, runs and states stay, and it can be added again.",
        ),
        button="Remove key",
        back=reverse("asset", args=[row.name]),
        is_grave=True,
    )

    def do() -> tuple[str, str]:
        _check_all(request, CHANGE, dynamic.names_of(row)[0])
        dynamic.remove(dynamic.names_of(row)[0], [key], deed=deed(request), at=timezone.now())
        return question.back, f"Removed {key}."

    if not is_removable(row, key):
        return confirm.ask(request, question, problem=f"{row.name} has no dynamic key {key!r}.", status=409)
    return confirm.act(request, question, do)


def is_removable(row: Asset, key: str) -> bool:
    """Is `key` one of the asset's dynamic partitions, itself and not as a part of a key?"""
    names = dynamic.names_of(row)
    if not key or len(names) != 1 or (row.partitions or {}).get("type") != "DynamicPartitions":
        return False
    return DynamicKey.objects.there().filter(name=names[0], key=key).exists()


def _check_all(request: HtmxRequest, right: str, name: str) -> None:
    """:raises PermissionDenied: unless they may, for every asset that shares these partitions."""
    if not grants.may_with_partitions(request.user, right, name):
        raise PermissionDenied(f"{name} are the partitions of others, too, that are not yours to change")


def _doubt(wanted: Sequence[str]) -> str:
    """Why one of these lines may be meant as several keys, if one may."""
    joined = next((each for each in wanted if re.search(r"[,;]", each)), "")
    return f"{joined!r} would be one key: those that are several stand one a line" if joined else ""


def _lines(text: str) -> list[str]:
    return [line for each in text.splitlines() if (line := each.strip())]
