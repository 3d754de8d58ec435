"""Addresses: pages at the top, the API under /api, Django's admin under /admin."""

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("partitions_site.api.urls")),
    path("", include("partitions_site.web.urls")),
]
