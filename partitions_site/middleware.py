"""The content security policy: nothing runs that this site did not write."""

import secrets

from django.http import HttpRequest, HttpResponseBase

from partitions_site.both_ways import BothWays

POLICY = (
    "default-src 'self'; script-src 'self' 'nonce-{nonce}'; style-src 'self'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


class ContentSecurityPolicy(BothWays):
    """Puts a fresh nonce on each request as `csp_nonce` and the policy that names it on each response."""

    def before(self, request: HttpRequest) -> str:
        nonce = secrets.token_urlsafe(16)
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        return nonce

    def after(self, response: HttpResponseBase, mark: str) -> HttpResponseBase:
        response.headers.setdefault("Content-Security-Policy", POLICY.format(nonce=mark))
        return response


def csp_nonce(request: HttpRequest) -> dict[str, str]:
    """Context processor: the nonce under the name that django-htmx's script tag looks for."""
    return {"csp_nonce": getattr(request, "csp_nonce", "")}
