"""Definition files: which are loaded, and what is wrong with those that are not."""

from django.db.models import Count, Q
from django.http import HttpResponse
from django.views.decorators.http import require_safe

from core.models import Dag, DefinitionSource
from partitions_site.web.http import HtmxRequest, answer, later


@require_safe
def definitions(request: HtmxRequest) -> HttpResponse:
    """Broken files first, each with its line and traceback; then Dags whose definition has problems."""
    context = {"sources": later(_sources), "dags": later(lambda: list(_troubled()))}
    return answer(request, "definitions/definitions.html", "definitions/_now.html", context)


def _sources() -> list[DefinitionSource]:
    rows = DefinitionSource.objects.annotate(dag_count=Count("dags", filter=Q(dags__is_active=True)))
    return sorted(rows, key=lambda source: (not source.error, source.name))


def _troubled() -> list[Dag]:
    return list(Dag.objects.active().exclude(problems=[]).select_related("source"))
