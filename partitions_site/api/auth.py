"""Who asks, and whether they may.

Programs send `Authorization: Bearer …`: a personal token (`pt_…`) or a web token from `POST /auth/token`.
Pages send their session. Web tokens are signed, short-lived, and end at once when their row, their owner's
password or their owner goes.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from hashlib import blake2b
from math import ceil
from typing import Any, ClassVar, NoReturn

import jwt
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.http import HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.crypto import constant_time_compare, salted_hmac
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS, knox_settings
from rest_framework.authentication import BaseAuthentication, SessionAuthentication, get_authorization_header
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
from partitions_site.api.errors import TooMany
from partitions_site.api.parsing import JsonBody
from partitions_site.api.throttles import PerCaller
from partitions_site.credentials import tokens_of
from partitions_site.deeds import deed_of
from partitions_site.models import ApiToken
from scheduling.belonging import Sight, Thing
from scheduling.journal import Deed

ALGORITHM = "HS256"
COOKIE = "_token"
USE_NOTED_EVERY = timedelta(minutes=1)

Credentials = tuple[User, ApiToken]


class BearerAuthentication(BaseAuthentication):
    """A personal or a web token in the `Authorization` header, or a web token in the cookie `_token`."""

    def authenticate(self, request: Request) -> Credentials | None:
        scheme, _, credential = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() in ("bearer", "token"):
            return self._by_token(credential.strip())
        cookie = request.COOKIES.get(COOKIE)
        if cookie and (request.method in SAFE_METHODS or _comes_from_here(request)):
            return self._by_token(cookie)
        return None

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"

    def _by_token(self, credential: str) -> Credentials:
        if credential.startswith(knox_settings.TOKEN_PREFIX):
            user, token = _by_personal_token(credential)
        else:
            user, token = _by_web_token(credential)
        _note_use(token)
        return user, token


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = BearerAuthentication
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}


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
        raise TooMany(f"Too many requests: try again in {seconds} seconds", wait=seconds)


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


def web_token(user: AbstractBaseUser, *, life: timedelta, at: datetime) -> str:
    """Sign `user` in for `life`: a web token that ends when its row is taken away."""
    ApiToken.objects.filter(user=user, kind=ApiToken.Kind.SIGN_IN, expiry__lt=at).delete()
    row, _ = ApiToken.objects.create(user=user, expiry=life, kind=ApiToken.Kind.SIGN_IN)
    claims = {
        "sub": str(user.pk),
        "jti": row.token_key,
        "pwd": _password_mark(user),
        "iat": at,
        "exp": at + life,
    }
    return jwt.encode(claims, _signing_key(), algorithm=ALGORITHM)


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


def _by_personal_token(credential: str) -> Credentials:
    for token in tokens_of(credential[: CONSTANTS.TOKEN_KEY_LENGTH]):
        is_over = token.expiry is not None and token.expiry <= timezone.now()
        if not is_over and token.user.is_active and _is_digest(token.digest, credential):
            return token.user, token
    # One that is refused: in its words, and one that is over is taken away.
    user, refused = TokenAuthentication().authenticate_credentials(credential.encode())
    return user, refused


def _is_digest(digest: str, credential: str) -> bool:
    try:
        return constant_time_compare(digest, hash_token(credential))
    except (TypeError, ValueError):  # it is not even written in the digits of a token
        return False


def _by_web_token(credential: str) -> Credentials:
    refusal = PermissionDenied("Invalid JWT token")
    try:
        required = ["sub", "jti", "pwd", "exp"]
        claims = jwt.decode(credential, _signing_key(), algorithms=[ALGORITHM], options={"require": required})
    except jwt.InvalidTokenError:
        raise refusal from None
    row = next((row for row in tokens_of(claims["jti"]) if str(row.user_id) == claims["sub"]), None)
    if (
        row is None
        or (row.expiry is not None and row.expiry <= timezone.now())
        or not row.user.is_active
        or not constant_time_compare(claims["pwd"], _password_mark(row.user))
    ):
        raise refusal
    return row.user, row


def _signing_key() -> str:
    return salted_hmac("partita.web_token", "", secret=settings.SECRET_KEY, algorithm="sha256").hexdigest()


def _password_mark(user: AbstractBaseUser) -> str:
    """Changes with the password, so that a new password ends every web token."""
    return user.get_session_auth_hash()[:16]


def _comes_from_here(request: HttpRequest | Request) -> bool:
    """A browser says which site makes it write; other programs say nothing."""
    origin = request.META.get("HTTP_ORIGIN")
    return origin is None or origin == f"{request.scheme}://{request.get_host()}"


def _note_use(token: ApiToken) -> None:
    now = timezone.now()
    if token.last_used_at is None or now - token.last_used_at > USE_NOTED_EVERY:
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
