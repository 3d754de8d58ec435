"""Whether whoever asks may: what every address of the API states, and how one is guarded.

Programs send a token (`bearers`), pages their session.
"""

from collections.abc import Mapping
from functools import partial
from hashlib import blake2b
from math import ceil
from typing import Any, ClassVar, NoReturn

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView

from partitions_site import grants, roles
from partitions_site.api.bearers import BearerAuthentication
from partitions_site.api.errors import TooMany
from partitions_site.api.parsing import JsonBody
from partitions_site.api.throttles import PerCaller
from partitions_site.deeds import deed_of
from partitions_site.models import ApiToken
from scheduling.algebra.phrases import some
from scheduling.belonging import Sight, Thing
from scheduling.journal import Deed


class Rights(BasePermission):
    """Whoever has signed in may read; a write needs the permission that its address names.

    A token may be for less than its owner may: to read, or to do what operators do.
    """

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.user.is_authenticated:
            return False
        if not _is_for(request.user, view):
            return False
        method = request.method or ""
        if method in SAFE_METHODS or not hasattr(view, method.lower()):
            return True
        needed = getattr(view, "needs", {}).get(method)
        return needed is not None and may(request, needed)


SIGNED_IN = "signed in"
"""Stands in `needs` for a write that everybody may do to what is their own."""

A_READ = "a read"
"""Stands in `needs` for a method that is posted and changes nothing."""

GROUPED, OWN, SITE = "grouped", "own", "site"
"""What an address is about, as its `within` says: things that belong to groups of assets, of which it shows
and does what each may; what is one's own, or no secret; the site, which those who see some groups do not."""


UNKEPT = {"Cache-Control": "no-store"}
"""Headers of an answer that has a secret in it."""


class JsonAlways(DefaultContentNegotiation):
    """Answers are JSON, whatever the request would rather accept."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


class Address(APIView):
    """One address of the API. `needs` names the permission for each method that writes.

    Whoever is shown certain groups of assets only is let in where `within` says that they were thought of.
    """

    authentication_classes: tuple[type[BaseAuthentication], ...] = (
        BearerAuthentication,
        SessionAuthentication,
    )
    permission_classes: tuple[type[BasePermission], ...] = (Rights,)
    parser_classes: tuple[type[BaseParser], ...] = (JsonBody,)
    content_negotiation_class = JsonAlways
    throttle_classes: tuple[type[BaseThrottle], ...] = (PerCaller,)
    needs: ClassVar[Mapping[str, str]] = {}
    within: ClassVar[str] = ""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        for name, value in kwargs.items():
            if isinstance(value, str) and not value.isprintable():
                raise NotFound(f"Nothing is called {value!r} ({name})")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = super().dispatch(request, *args, **kwargs)
        if request.method == "GET" and response.status_code == 200 and isinstance(response, Response):
            response.add_post_render_callback(partial(_unless_known, request))
        return response

    def throttled(self, request: Request, wait: float) -> NoReturn:
        seconds = max(1, ceil(wait))
        raise TooMany(f"Too many requests: try again in {some(seconds, 'second')}", wait=seconds)


class OpenAddress(Address):
    """An address that answers to anybody, and looks at no credentials."""

    authentication_classes = ()
    permission_classes = ()


def may(request: Request, needed: str) -> bool:
    """Whether whoever asks may do this, and their token is for it. For what a body asks, too."""
    if not _is_in_scope(request.auth, needed):
        return False
    return needed in (SIGNED_IN, A_READ) or grants.may_somewhere(request.user, needed)


def sight_of(request: Request) -> Sight:
    """What is shown to whoever asks."""
    return grants.reach_of(request.user).sight


def check_may(request: Request, thing: Thing, right: str = "") -> None:
    """:raises PermissionDenied: if they lack the right that the method needs, or `right`, for `thing`."""
    view: Any = (request.parser_context or {})["view"]
    needed = right or view.needs.get(request.method, A_READ)
    if needed not in (SIGNED_IN, A_READ) and not request.user.has_perm(needed, thing):
        raise PermissionDenied


def deed(request: Request, reason: str = "") -> Deed:
    """What the journal says of a write: whoever asked did it, through the API."""
    return deed_of(request, "api", reason)


def _is_in_scope(auth: object, needed: str) -> bool:
    """What a token is for. One that is not for everything makes no other tokens: they could be for more."""
    if not isinstance(auth, ApiToken) or auth.scope == ApiToken.Scope.ALL or needed == A_READ:
        return True
    return auth.scope == ApiToken.Scope.WRITE and needed in roles.GRANTS[roles.OPERATOR]


def _is_for(user: Any, view: APIView) -> bool:
    """Whether the address is one for them, if they see certain groups of assets only."""
    return grants.reach_of(user).sight.is_whole or getattr(view, "within", "") in (GROUPED, OWN)


def _unless_known(request: HttpRequest, response: Response) -> HttpResponseBase | None:
    """304 for whoever has the same already; `None` leaves the answer as it is.

    An address that names the state of what it shows by itself, for `If-Match`, is left alone.
    """
    if response.has_header("ETag"):
        return None
    etag = f'"{blake2b(response.content, digest_size=12).hexdigest()}"'
    response.headers["ETag"] = etag
    response.headers.setdefault("Cache-Control", "private, no-cache")
    patch_vary_headers(response, ("Authorization", "Cookie"))
    answer = get_conditional_response(request, etag=etag, response=response)
    return None if answer is response else answer
