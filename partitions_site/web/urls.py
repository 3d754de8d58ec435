"""Addresses of pages. A key goes as a query parameter; so does a name in the address of a deed."""

from typing import Any

from django.urls import URLPattern, path

from partitions_site.web import (
    assets,
    backfills,
    dags,
    definitions,
    health,
    holds,
    journal,
    keys,
    listening,
    overview,
    planning,
    runs,
    sensors,
    signin,
)
from partitions_site.web.http import signed_in


def screen(route: str, view: Any, name: str) -> URLPattern:
    return path(route, signed_in(view), name=name)


urlpatterns = [
    path("sign-in", signin.sign_in, name="login"),
    path("sign-out", signin.sign_out, name="logout"),
    path("theme", signin.change_theme, name="theme"),
    screen("", overview.overview, "overview"),
    screen("assets/<path:name>", assets.asset, "asset"),
    screen("record", assets.record, "record"),
    screen("keys/add", keys.add, "keys_add"),
    screen("keys/remove", keys.remove, "keys_remove"),
    screen("held", holds.held_runs, "held"),
    screen("held/<int:pk>", holds.held_run, "held_run"),
    screen("held/<int:pk>/fire", holds.fire, "held_fire"),
    screen("held/<int:pk>/cancel", holds.cancel, "held_cancel"),
    screen("dags", dags.dags, "dags"),
    screen("dags/<path:dag_id>", dags.dag, "dag"),
    screen("trigger", dags.trigger, "dag_trigger"),
    screen("meaning", dags.meaning, "dag_meaning"),
    screen("listening", listening.listening, "dag_listening"),
    screen("pause", dags.pause, "dag_pause"),
    screen("runs", runs.runs, "runs"),
    screen("runs/<int:pk>", runs.run, "run"),
    screen("runs/<int:pk>/retry", runs.retry, "run_retry"),
    screen("runs/<int:pk>/cancel", runs.cancel, "run_cancel"),
    screen("backfills", backfills.backfills, "backfills"),
    screen("backfills/new", planning.new, "backfill_new"),
    screen("backfills/<int:pk>", backfills.backfill, "backfill"),
    screen("backfills/<int:pk>/pause", backfills.pause, "backfill_pause"),
    screen("backfills/<int:pk>/resume", backfills.resume, "backfill_resume"),
    screen("backfills/<int:pk>/cancel", backfills.cancel, "backfill_cancel"),
    screen("backfills/<int:pk>/retry", backfills.retry, "backfill_retry"),
    screen("sensors", sensors.sensors, "sensors"),
    screen("sensors/<path:name>", sensors.sensor, "sensor"),
    screen("pause-sensor", sensors.pause, "sensor_pause"),
    screen("look", sensors.look, "sensor_look"),
    screen("definitions", definitions.definitions, "definitions"),
    screen("journal", journal.journal, "journal"),
    screen("health", health.health, "health"),
]
