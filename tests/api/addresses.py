"""Every address of the API with each of its methods, and those that are as open or as shut to all."""

from partitions_site.api import urls

READS, WRITES = ("get",), ("post", "put", "patch", "delete")

OPEN = {
    "auth/token",
    "auth/token/cli",
    "api/v2/version",
    "api/v2/monitor/health",
    "api/v2/openapi.json",
    "api/v2/auth/login",
    "api/v2/runs/<str:run_pk>/callback",
    "openapi.json",
    "docs",
    "livez",
    "readyz",
    "api/<path:rest>",
}
"""Addresses that answer to anybody."""

SHUT = {"api/v2/config"}
"""Addresses that answer to nobody."""


def addresses():
    for pattern in urls.urlpatterns:
        view = pattern.callback.view_class
        for method in (*READS, *WRITES):
            if method in view.http_method_names and hasattr(view, method):
                yield str(pattern.pattern), view, method
