"""Addresses of pages. A key goes as a query parameter; so does a name in the address of a deed."""

from typing import Any

from django.urls import URLPattern, path

from partitions_site.web import (
    assets,
    backfills,
    dags,
    definitions,
    health,
    held_keys,
    hold_deeds,
    holds,
    journal,
    keys,
    listening,
    many_holds,
    many_runs,
    marking,
    overview,
    planning,
    runs,
    sensors,
    signin,
    tokens,
    triggering,
    written,
)
from partitions_site.web.http import signed_in


def grouped(route: str, view: Any, name: str) -> URLPattern:
    """A screen of what belongs to groups of assets: it shows and does what whoever asks may."""
    return path(route, signed_in(view), name=name)


def of_the_site(route: str, view: Any, name: str) -> URLPattern:
    """A screen of the site itself, shut to those who are shown certain groups only."""
    return path(route, signed_in(view, of_the_site=True), name=name)


def open_to_all(route: str, view: Any, name: str) -> URLPattern:
    """A screen of one's own, or that tells nothing of anybody."""
    return path(route, signed_in(view), name=name)


urlpatterns = [
    path("sign-in", signin.sign_in, name="login"),
    path("sign-in/elsewhere", signin.elsewhere, name="oidc"),
    path("sign-in/back", signin.back_from_elsewhere, name="oidc_callback"),
    path("sign-out", signin.sign_out, name="logout"),
    path("theme", signin.change_theme, name="theme"),
    grouped("", overview.overview, "overview"),
    grouped("assets/<path:name>", assets.asset, "asset"),
    grouped("record", assets.record, "record"),
    grouped("mark", marking.mark, "mark"),
    grouped("wipe", marking.wipe, "wipe"),
    open_to_all("written", written.check, "written"),
    grouped("keys/add", keys.add, "keys_add"),
    grouped("keys/remove", keys.remove, "keys_remove"),
    grouped("held", holds.held_runs, "held"),
    grouped("held/<int:pk>", holds.held_run, "held_run"),
    grouped("held/<int:pk>/keys", held_keys.held_keys, "held_keys"),
    grouped("held/<int:pk>/fire", hold_deeds.fire, "held_fire"),
    grouped("held/<int:pk>/cancel", hold_deeds.cancel, "held_cancel"),
    grouped("held/several/fire", many_holds.fire, "held_fire_several"),
    grouped("held/several/cancel", many_holds.cancel, "held_cancel_several"),
    grouped("dags", dags.dags, "dags"),
    grouped("dags/<path:dag_id>", dags.dag, "dag"),
    grouped("trigger", triggering.trigger, "dag_trigger"),
    grouped("meaning", triggering.meaning, "dag_meaning"),
    grouped("listening", listening.listening, "dag_listening"),
    grouped("pause", dags.pause, "dag_pause"),
    grouped("runs", runs.runs, "runs"),
    grouped("runs/<int:pk>", runs.run, "run"),
    grouped("runs/<int:pk>/retry", runs.retry, "run_retry"),
    grouped("runs/<int:pk>/cancel", runs.cancel, "run_cancel"),
    grouped("runs/<int:pk>/mark", runs.mark, "run_mark"),
    grouped("runs/several/retry", many_runs.retry, "run_retry_several"),
    grouped("runs/several/cancel", many_runs.cancel, "run_cancel_several"),
    grouped("runs/several/mark", many_runs.mark, "run_mark_several"),
    grouped("backfills", backfills.backfills, "backfills"),
    grouped("backfills/new", planning.new, "backfill_new"),
    grouped("backfills/<int:pk>", backfills.backfill, "backfill"),
    grouped("backfills/<int:pk>/pause", backfills.pause, "backfill_pause"),
    grouped("backfills/<int:pk>/resume", backfills.resume, "backfill_resume"),
    grouped("backfills/<int:pk>/cancel", backfills.cancel, "backfill_cancel"),
    grouped("backfills/<int:pk>/retry", backfills.retry, "backfill_retry"),
    of_the_site("sensors", sensors.sensors, "sensors"),
    of_the_site("sensors/<path:name>", sensors.sensor, "sensor"),
    of_the_site("pause-sensor", sensors.pause, "sensor_pause"),
    of_the_site("look", sensors.look, "sensor_look"),
    of_the_site("definitions", definitions.definitions, "definitions"),
    open_to_all("tokens", tokens.tokens, "tokens"),
    open_to_all("tokens/<str:token_key>/revoke", tokens.revoke, "token_revoke"),
    grouped("journal", journal.journal, "journal"),
    open_to_all("health", health.health, "health"),
]
