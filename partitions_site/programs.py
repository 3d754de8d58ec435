"""Middleware that looks after people's browsers, and lets requests of programs pass: it takes time from each.

A program sends a token along with each request to the API, and no session, cookie or message plays any part
in the answer.
"""

from typing import Any

from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django_htmx.middleware import HtmxMiddleware

SCHEMES = ("bearer", "token")
"""How the `Authorization` header of a program begins."""


def has_token(authorization: str) -> bool:
    """Whether the header names a token: then nothing else says who asks."""
    return authorization.partition(" ")[0].lower() in SCHEMES


class _ForPeople:
    """Passes on what a program asks of the API. Pages may have such a header from a proxy of theirs."""

    get_response: Any

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith("/api/") and has_token(request.META.get("HTTP_AUTHORIZATION", "")):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]


class Sessions(_ForPeople, SessionMiddleware):
    """Of people who have signed in."""


class SignedIn(_ForPeople, AuthenticationMiddleware):
    """Puts the `user` of the session on the request."""


class Messages(_ForPeople, MessageMiddleware):
    """What is to be said on the next page."""


class Htmx(_ForPeople, HtmxMiddleware):
    """What htmx says of a request for a part of a page."""
