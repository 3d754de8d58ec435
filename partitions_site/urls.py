"""Addresses: pages at the top, the API under /api, Django's admin under /admin."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponseRedirect
from django.templatetags.static import static
from django.urls import include, path

from partitions_site.web.signin import admin_sign_in


def icon(request: HttpRequest) -> HttpResponseRedirect:
    """Browsers ask for it wherever the head of a page names no other, as Administration's does."""
    return HttpResponseRedirect(static("mark.svg"))


handler404 = "partitions_site.failures.not_found"
handler500 = "partitions_site.failures.server_error"
urlpatterns = [
    path("favicon.ico", icon),
    # One way in, with one count of wrong passwords.
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
    path("", include("partitions_site.api.urls")),
    path("", include("partitions_site.web.urls")),
]
