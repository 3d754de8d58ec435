"""What is answered when something breaks: to programs as JSON, to people as a page, to both with a name."""

import re
import sqlite3
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from partitions_site import tracing
from partitions_site.web.http import HtmxRequest, answer

FOR_PROGRAMS = re.compile(r"/((api|auth|ui)/|metrics$)")

RETRY_AFTER = {"Retry-After": "2"}
"""Seconds in which a database that is started anew may be there again."""

SHUTTING_DOWN = frozenset({"57P01", "57P02", "57P03"})
"""What PostgreSQL says when it is stopped, has crashed, or is not ready yet."""


def not_found(request: HtmxRequest, exception: Exception) -> HttpResponse:
    """Whoever is signed in keeps the menu."""
    if request.user.is_authenticated:
        return answer(request, "lost.html", (), {}, status=404)
    return HttpResponse(render_to_string("404.html", request=request), status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """The name of the request finds its traceback in the log. 503: the database has gone, ask again."""
    name = tracing.current()
    is_away = is_database_away(sys.exception())
    status, headers = (503, RETRY_AFTER) if is_away else (500, {})
    if FOR_PROGRAMS.match(request.path):
        detail = "The database cannot be reached: try again" if is_away else "Internal Server Error"
        return JsonResponse({"detail": detail, "request_id": name}, status=status, headers=headers)
    page = render_to_string("503.html" if is_away else "500.html", {"request_id": name})
    return HttpResponse(page, status=status, headers=headers)


def is_database_away(error: BaseException | None) -> bool:
    """Whether `error` says that the connection to the database was lost, or that there is none."""
    if not isinstance(error, OperationalError | InterfaceError) or isinstance(error.__cause__, sqlite3.Error):
        return False
    state = getattr(error.__cause__, "sqlstate", None)  # what the driver notices by itself has none
    return state is None or state.startswith("08") or state in SHUTTING_DOWN
