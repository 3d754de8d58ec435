"""Every screen, by what people do on it."""

from django.urls import reverse

from partitions_site.web import urls

OPEN = {"login", "oidc", "oidc_callback", "logout", "theme"}
OWN = {"tokens", "token_revoke", "written"}
"""Screens where everybody does something to what is their own."""
LOOKS = {
    *("overview", "asset", "held", "held_run", "held_keys", "dags", "dag", "dag_meaning", "runs", "run"),
    *("backfills", "backfill", "sensors", "sensor", "definitions", "journal", "health"),
}
"""Screens that only show something."""


def names():
    return [pattern.name for pattern in urls.urlpatterns if pattern.name]


def address(name):
    pattern = next(each for each in urls.urlpatterns if each.name == name).pattern
    is_number = {key: type(kind).__name__ == "IntConverter" for key, kind in pattern.converters.items()}
    return reverse(name, kwargs={key: 1 if number else "sum" for key, number in is_number.items()})


DEEDS = [name for name in names() if name not in OPEN | LOOKS | OWN]
