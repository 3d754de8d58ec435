"""Who did what."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from partitions_site.web.http import HtmxRequest, answer, later, sight_of, whole
from scheduling import board
from scheduling.board import JournalFilter


@require_safe
def journal(request: HtmxRequest) -> HttpResponse:
    """Every deed, newest first. The rows poll this same address."""
    wanted = JournalFilter(
        event=request.GET.get("event", ""),
        dag=request.GET.get("dag", ""),
        asset=request.GET.get("asset", ""),
        by=request.GET.get("by", "").strip(),
        key=request.GET.get("key", "").strip(),
        backfill=whole(request.GET.get("backfill")),
        request=request.GET.get("request", "").strip(),
        sight=sight_of(request),
    )
    after = whole(request.GET.get("after"))
    context = {"wanted": wanted, "after": after, "page": later(board.journal, wanted, after=after)}
    return answer(request, "journal/list.html", "journal/_rows.html", context)
