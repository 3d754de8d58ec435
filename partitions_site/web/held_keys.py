"""Every key of one asset that a held run lacks, has, or does not count."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from core.models import Asset
from partitions_site.web.holds import row_of, verdict_of
from partitions_site.web.http import HtmxRequest, answer, sight_of, whole
from scheduling.board import Excerpt, room_for

WHICH = ("missing", "received", "unexpected")

SHOWN = 1000
"""Keys on one page, if they are short."""


@require_safe
def held_keys(request: HtmxRequest, pk: int) -> HttpResponse:
    """Where the page of a held run names some of many keys, all of them, of one asset."""
    row, words = row_of(request, pk), request.GET.get("asset", "")
    which = asked if (asked := request.GET.get("which", "")) in WHICH else WHICH[0]
    progress = next((each for each in verdict_of(row).progress if each.leaf.words() == words), None)
    keys: tuple[str, ...] = getattr(progress, which, ())
    first = min(whole(request.GET.get("row")), max(0, len(keys) - 1))
    shown = keys[first : first + SHOWN]
    context = {
        "row": row,
        "which": which,
        "words": words,
        "asset": Asset.objects.filter(sight_of(request).assets(), name=words).first(),
        "keys": Excerpt(shown[: room_for(shown)], len(keys), first),
    }
    return answer(request, "held/keys.html", (), context)
