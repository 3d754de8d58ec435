"""Who asks: `Authorization: Bearer …`, a personal token (`pt_…`) or a web token from `POST /auth/token`.

Web tokens are signed, short-lived, and end at once when their row, their owner's password or their owner
goes.
"""

from datetime import datetime, timedelta
from typing import Any

import jwt
from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, User
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from knox.auth import TokenAuthentication
from knox.crypto import hash_token
from knox.settings import CONSTANTS, knox_settings
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from partitions_site.credentials import tokens_of
from partitions_site.models import ApiToken
from partitions_site.programs import SCHEMES

ALGORITHM = "HS256"
COOKIE = "_token"
USE_NOTED_EVERY = timedelta(minutes=1)

Credentials = tuple[User, ApiToken]


class BearerAuthentication(BaseAuthentication):
    """A personal or a web token in the `Authorization` header, or a web token in the cookie `_token`."""

    def authenticate(self, request: Request) -> Credentials | None:
        scheme, _, credential = get_authorization_header(request).decode("latin-1").partition(" ")
        if scheme.lower() in SCHEMES:
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
