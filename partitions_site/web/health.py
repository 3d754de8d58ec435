"""Is everything alive? And with which versions."""

import platform
from importlib.metadata import PackageNotFoundError, version

import django
from django.conf import settings
from django.db import connection
from django.http import HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from core.models import Pulse
from partitions_site import refusals, roles
from partitions_site.web.http import HtmxRequest, answer, later, sight_of
from scheduling import board
from scheduling import health as engine

SHOWN = 20
"""Events, and held runs, that are named of those that wait for the engine."""


@require_safe
def health(request: HtmxRequest) -> HttpResponse:
    """The page, and the dot in the foot of every page."""
    now, sight = timezone.now(), sight_of(request)
    report = later(engine.report, now)
    events = engine.uncounted(now).filter(sight.assets("asset__")).select_related("asset")
    held = engine.unjudged(now).filter(sight.dags("dag")).select_related("dag")
    context = {
        "health": report,
        "vitals": later(lambda: [report.beat, report.workers, report.sweeps]),
        "pulses": later(lambda: list(Pulse.objects.order_by("kind", "name"))),
        "flow": later(board.flow, sight),
        "uncounted": later(lambda: list(events[:SHOWN])),
        "unjudged": later(lambda: list(held[:SHOWN])),
        "versions": later(_versions),
        "embedded": settings.EMBEDDED,
        "roles": later(_roles, request),
    }
    return answer(request, "health/health.html", ("health/_pulse.html", "health/_now.html"), context)


def _roles(request: HtmxRequest) -> list[tuple[str, str, bool]]:
    """Each role, what it may do, and whether whoever looks may do that."""
    return [(name, words, refusals.may_all_of(request.user, name)) for name, words in roles.WORDS.items()]


def _versions() -> list[tuple[str, str]]:
    return [
        ("Partita", _version("partita")),
        ("Python", platform.python_version()),
        ("Django", django.get_version()),
        ("Celery", _version("celery")),
        ("Database", f"{connection.display_name} {_database_version()}"),
        ("Time zone data", _version("tzdata")),
    ]


def _database_version() -> str:
    return ".".join(map(str, connection.get_database_version()))


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "from its source tree"
