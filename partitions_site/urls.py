"""Addresses: pages at the top, the API under /api, Django's admin under /admin."""

from django.contrib import admin
from django.urls import include, path

from partitions_site.web.signin import admin_sign_in

handler500 = "partitions_site.failures.server_error"
urlpatterns = [
    # One way in, with one count of wrong passwords.
    path("admin/login/", admin_sign_in),
    path("admin/", admin.site.urls),
    path("", include("partitions_site.api.urls")),
    path("", include("partitions_site.web.urls")),
]
