"""The typed request, and the one place that decides what a request gets: a whole page or a part of it."""

import re
from collections.abc import Callable, Sequence
from functools import partial, wraps
from hashlib import blake2b
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.messages import get_messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, HttpResponseRedirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event
from django_htmx.middleware import HtmxDetails

from scheduling import health
from scheduling.journal import Deed

THEMES = ("light", "dark")


class HtmxRequest(HttpRequest):
    """A request as `HtmxMiddleware` and the sign-in leave it."""

    htmx: HtmxDetails
    user: User


class Screen(Protocol):
    def __call__(self, request: HtmxRequest, /, *args: Any, **kwargs: Any) -> HttpResponse: ...


def answer(
    request: HtmxRequest, page: str, parts: str | Sequence[str], context: dict[str, Any], *, status: int = 200
) -> HttpResponse:
    """The whole page, or the one of its parts that htmx wants to swap.

    The part for the target `panel` is the template whose name ends in `/_panel.html`. A GET that would say
    what the browser has already is a 304 without a body.
    """
    part = _wanted(request, [parts] if isinstance(parts, str) else parts)
    site = {"theme": theme(request), "time_zone": settings.TIME_ZONE}
    context = {"now": timezone.now(), **site, **context}
    if part is None:
        context.setdefault("health", later(health.report, context["now"]))
    response = HttpResponse(render_to_string(part or page, context, request), status=status)
    if request.method == "GET" and status == 200:
        response = _unless_known(request, response)
    patch_vary_headers(response, ("HX-Request", "HX-Target", "Cookie"))
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def go(request: HtmxRequest, address: str) -> HttpResponse:
    """On to another page, whether a browser or htmx asked.

    What was done in a dialog on that very page needs no other: the page is told to close it, to say what
    there is to say, and to look anew.
    """
    if not request.htmx:
        return HttpResponseRedirect(address)
    here = urlsplit(request.htmx.current_url_abs_path or "").path
    if request.htmx.target == "dialog" and here == urlsplit(address).path:
        words = " ".join(str(message) for message in get_messages(request))
        return trigger_client_event(HttpResponse(status=204), "done", {"words": words})
    return HttpResponseClientRedirect(address)


def back_to(request: HtmxRequest, usual: str) -> str:
    """Where somebody who asked for a deed wants to be afterwards: the `back` of the address, on this site."""
    asked = request.GET.get("back", "")
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if asked and safe else usual


def signed_in(screen: Screen) -> Callable[..., HttpResponse]:
    """`screen` for people who have signed in; others sign in first and come back to where they were."""

    @wraps(screen)
    def guarded(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.user.is_authenticated:
            return screen(request, *args, **kwargs)
        here = request.htmx.current_url_abs_path if request.htmx else request.get_full_path()
        return go(request, f"{reverse('login')}?{urlencode({'next': here or '/'})}")

    return guarded


def allowed(right: str) -> Callable[[Screen], Callable[..., HttpResponse]]:
    """A screen that only those may open who have `right`, such as `core.add_dagrun`.

    :raises PermissionDenied: with a sentence, for others; Django makes a page of it.
    """

    def guard(screen: Screen) -> Callable[..., HttpResponse]:
        @wraps(screen)
        def guarded(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not request.user.has_perm(right):
                raise PermissionDenied(f"{request.user.get_username()} may look but not do this")
            return screen(request, *args, **kwargs)

        return guarded

    return guard


def deed(request: HtmxRequest) -> Deed:
    """What the person of this request does, for the journal."""
    return Deed(
        by=request.user.get_username(), via="web", reason=request.POST.get("reason", "").strip()[:1000]
    )


T = TypeVar("T")


def later(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What `function` will return, asked only if a template looks at it."""
    answer: Any = SimpleLazyObject(partial(function, *args, **kwargs))
    return answer


def theme(request: HttpRequest) -> str:
    """`light`, `dark`, or empty for what the device prefers."""
    chosen = request.COOKIES.get("theme", "")
    return chosen if chosen in THEMES else ""


def whole(text: str | None, default: int = 0) -> int:
    """A whole number from an address; anything else is the default."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,18}", text) else default


def _wanted(request: HtmxRequest, parts: Sequence[str]) -> str | None:
    if not request.htmx or request.htmx.history_restore_request:
        return None
    return next((part for part in parts if part.endswith(f"/_{request.htmx.target}.html")), None)


def _unless_known(request: HtmxRequest, response: HttpResponse) -> HttpResponse:
    etag = f'"{blake2b(response.content, digest_size=12).hexdigest()}"'
    if request.headers.get("If-None-Match") == etag:
        response = HttpResponseNotModified()
    response.headers["ETag"] = etag
    return response
