"""Who did what."""

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from core.models import Dag
from partitions_site.web import days
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
        during=days.lasting(day := days.named(request.GET.get("day", ""))),
        sight=sight_of(request),
    )
    after, dags = whole(request.GET.get("after")), Dag.objects.active().filter(wanted.sight.dags())
    context = {
        "wanted": wanted,
        "day": day,
        "after": after,
        "page": later(board.journal, wanted, after=after),
        "dag_ids": later(lambda: list(dags.values_list("dag_id", flat=True))),
    }
    return answer(request, "journal/list.html", "journal/_rows.html", context)
