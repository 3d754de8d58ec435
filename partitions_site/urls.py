"""Addresses: pages at the top, the API under /api, Django's admin under /admin."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

handler500 = "partitions_site.failures.server_error"
urlpatterns = [
    # One way in, with one count of wrong passwords.
    path("admin/login/", RedirectView.as_view(pattern_name="login", query_string=True)),
    path("admin/", admin.site.urls),
    path("", include("partitions_site.api.urls")),
    path("", include("partitions_site.web.urls")),
]
