"""The content security policy: nothing runs that this site did not write."""

import secrets
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class ContentSecurityPolicy:
    """Puts a fresh nonce on each request as `csp_nonce` and the policy that names it on each response."""

    async_capable = True
    sync_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> Any:
        if iscoroutinefunction(self):
            return self._answer_later(request)
        _give_nonce(request)
        return _with_policy(request, self.get_response(request))

    async def _answer_later(self, request: HttpRequest) -> HttpResponseBase:
        _give_nonce(request)
        return _with_policy(request, await self.get_response(request))


def csp_nonce(request: HttpRequest) -> dict[str, str]:
    """Context processor: the nonce under the name that django-htmx's script tag looks for."""
    return {"csp_nonce": getattr(request, "csp_nonce", "")}


def _give_nonce(request: HttpRequest) -> None:
    request.csp_nonce = secrets.token_urlsafe(16)  # type: ignore[attr-defined]


def _with_policy(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    response.headers.setdefault(
        "Content-Security-Policy",
        POLICY.format(nonce=request.csp_nonce),  # type: ignore[attr-defined]
    )
    return response
