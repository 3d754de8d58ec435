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
from django.db.models import Model, Q
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.functional import SimpleLazyObject
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.http import HttpResponseClientRedirect, trigger_client_event
from django_htmx.middleware import HtmxDetails

from core.models import Asset, Backfill, Dag, DagRun, HeldRun
from partitions_site import grants, refusals
from partitions_site.deeds import deed_of
from partitions_site.web.addresses import check_can_be_stored, check_length
from scheduling import health
from scheduling.belonging import Sight, Thing
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
    context = {"now": timezone.now(), **site, **context, "sees_all": later(_sees_all, request)}
    if part is None:
        context.setdefault("health", later(health.report, context["now"]))
    response = HttpResponse(render_to_string(part or page, context, request), status=status)
    if request.method == "GET" and status == 200:
        response = _unless_known(request, response)
    patch_vary_headers(response, ("HX-Request", "HX-Target", "Cookie"))
    response.headers["Cache-Control"] = "private, no-cache"
    return response


def is_whole(request: HtmxRequest, parts: Sequence[str]) -> bool:
    """Whether `answer` gives the whole page, not one of `parts`."""
    return _wanted(request, parts) is None


def go(request: HtmxRequest, address: str) -> HttpResponse:
    """On to another page, whether a browser or htmx asked.

    What was done in a dialog on that very page needs no other: the page is told to close it, to say what
    there is to say, and to look anew.
    """
    if not request.htmx:
        return HttpResponseRedirect(address)
    here = urlsplit(_current_page(request) or "").path
    if request.htmx.target == "dialog" and here == urlsplit(address).path:
        words = " ".join(str(message) for message in get_messages(request))
        return trigger_client_event(HttpResponse(status=204), "done", {"words": words})
    return HttpResponseClientRedirect(address)


def back_to(request: HtmxRequest, usual: str) -> str:
    """Where somebody who asked for a deed wants to be afterwards: the `back` of the address, on this site."""
    asked = request.GET.get("back", "")
    safe = url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure())
    return asked if asked and safe else usual


def signed_in(screen: Screen, *, of_the_site: bool = False) -> Callable[..., HttpResponse]:
    """`screen` for people who have signed in; others sign in first and come back to where they were.

    One that is `of_the_site`, not of groups of assets, is shut to those who are shown certain groups only.
    """

    @wraps(screen)
    def guarded(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        check_can_be_stored(request)
        check_length(request)
        if request.user.is_authenticated:
            if of_the_site and not sight_of(request).is_whole:
                raise PermissionDenied(
                    f"{request.user.get_username()} has roles for some assets, not for this"
                )
            return screen(request, *args, **kwargs)
        return go(request, f"{reverse('login')}?{urlencode({'next': _page_of(request) or '/'})}")

    return guarded


def allowed(right: str) -> Callable[[Screen], Callable[..., HttpResponse]]:
    """A screen that only those may open who have `right`, such as `core.add_dagrun`, for something.

    :raises PermissionDenied: with a sentence, for others; Django makes a page of it.
    """

    def guard(screen: Screen) -> Callable[..., HttpResponse]:
        @wraps(screen)
        def guarded(request: HtmxRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not grants.may_somewhere(request.user, right):
                raise _may_only_look(request, right)
            return screen(request, *args, **kwargs)

        return guarded

    return guard


def sight_of(request: HtmxRequest) -> Sight:
    """What is shown to the person of this request."""
    return grants.reach_of(request.user).sight


def found(request: HtmxRequest, rows: Any, right: str = "", **where: Any) -> Any:
    """The one of `rows` that an address is about.

    :raises Http404: if there is none, of those that are shown.
    :raises PermissionDenied: if there must be a `right` for it, and there is not.
    """
    row = get_object_or_404(rows.filter(SHOWN[rows.model](sight_of(request))), **where)
    check_may(request, right, row)
    return row


def check_may(request: HtmxRequest, right: str, thing: Thing) -> None:
    """:raises PermissionDenied: with a sentence, for those who have no such right for `thing`."""
    if right and not request.user.has_perm(right, thing):
        raise _may_only_look(request, right, thing)


SHOWN: dict[type[Model], Callable[[Sight], Q]] = {
    Asset: lambda sight: sight.assets(),
    Dag: lambda sight: sight.dags(),
    DagRun: lambda sight: sight.dags("dag"),
    HeldRun: lambda sight: sight.dags("dag"),
    Backfill: lambda sight: sight.backfills(),
}
"""Which rows of each kind are shown."""


def deed(request: HtmxRequest) -> Deed:
    """What the person of this request does, for the journal."""
    reason = request.POST.get("reason", "").strip()[:1000]
    return deed_of(request, "web", reason)


T = TypeVar("T")


def later(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """What `function` will return, asked only if a template looks at it."""
    lazy: Any = SimpleLazyObject(partial(function, *args, **kwargs))
    return lazy


def theme(request: HttpRequest) -> str:
    """`light`, `dark`, or empty for what the device prefers."""
    chosen = request.COOKIES.get("theme", "")
    return chosen if chosen in THEMES else ""


def whole(text: str | None, default: int = 0) -> int:
    """A whole number from an address; anything else is the default."""
    return int(text) if text and re.fullmatch(r"[0-9]{1,18}", text) else default


def _page_of(request: HtmxRequest) -> str | None:
    """The page that asks; of a form, the one it stood on, for its own address may take nothing but forms."""
    if request.htmx:
        return _current_page(request)
    if request.method in ("GET", "HEAD"):
        return request.get_full_path()
    page = request.headers.get("Referer", "")
    is_ours = url_has_allowed_host_and_scheme(page, {request.get_host()}, require_https=request.is_secure())
    return urlsplit(page)._replace(scheme="", netloc="").geturl() if is_ours else None


def _current_page(request: HtmxRequest) -> str | None:
    """The page on which htmx says it is; none if that is no address."""
    try:
        return request.htmx.current_url_abs_path
    except ValueError:
        return None


def _may_only_look(request: HtmxRequest, right: str, thing: Thing | None = None) -> PermissionDenied:
    return PermissionDenied(refusals.why_not(request.user, right, thing))


def _sees_all(request: HtmxRequest) -> bool:
    return request.user.is_authenticated and sight_of(request).is_whole


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
