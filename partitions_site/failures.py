"""What is answered when something breaks: to programs as JSON, to people as a page, to both with a name."""

import re

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from partitions_site import tracing
from partitions_site.web.http import HtmxRequest, answer

FOR_PROGRAMS = re.compile(r"/(api|auth|ui)/")


def not_found(request: HtmxRequest, exception: Exception) -> HttpResponse:
    """Whoever is signed in keeps the menu."""
    if request.user.is_authenticated:
        return answer(request, "lost.html", (), {}, status=404)
    return HttpResponse(render_to_string("404.html", request=request), status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """The name of the request finds its traceback in the log."""
    name = tracing.current()
    if FOR_PROGRAMS.match(request.path):
        return JsonResponse({"detail": "Internal Server Error", "request_id": name}, status=500)
    return HttpResponse(render_to_string("500.html", {"request_id": name}), status=500)
