"""Text that somebody meant ill with, in every place that pages show: it is read there, and does nothing."""

from urllib.parse import quote

import pytest
from django.test import Client

from core.models import AssetEvent, DefinitionSource, LogLine, Pool, SensorLook
from partitions_site import roles
from scheduling import events, runs
from scheduling.events import EventReport
from scheduling.journal import Deed
from tests.engine import world
from tests.engine.world import ALICE, NOW, REGIONS, RUNTIME, asset, consumer, emit, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

MARKS = ["<img src=x onerror=alert(1)>", "{{7*7}}", "javascript:alert(1)"]
ADDRESSES = {"href", "src", "action", "formaction", "hx-get", "hx-post", "data-href", "xlink:href"}
"""Attributes that a browser, or htmx, follows."""


def in_keys(mark):
    consumer("sum", {"sales": REGIONS}, writes=["totals"])
    emit("sales", mark, "tw")
    run = runs.trigger(world.dag("plain", RUNTIME, writes=["out"]), runs.Ask(mark), deed=ALICE, at=NOW)
    turn()
    key = quote(mark)
    return ["/runs", f"/runs/{run.pk}", "/journal", "/assets/sales?tab=events", f"/assets/sales?key={key}"]


def in_names(mark):
    pool = Pool.objects.create(name=mark, slots=1, created_at=NOW, updated_at=NOW)
    dag = world.dag(mark, RUNTIME, writes=[mark], tags=[mark], pool=pool)
    type(asset(mark)).objects.update(uri=mark, group=mark)
    emit(mark, "k")
    runs.trigger(dag, runs.Ask("k"), deed=Deed(by=mark, via="api"), at=NOW)
    world.sensor(mark)
    pages = [f"/assets/{quote(mark)}{tab}" for tab in ("", "?tab=events", "?tab=definition")]
    return [*pages, "/", "/dags", f"/dags/{quote(mark)}", "/runs", "/sensors", f"/sensors/{quote(mark)}"]


def in_extra(mark):
    report = EventReport(asset("sales"), "k", extra={"rows": mark, mark: [mark]})
    events.register_events([report], source=AssetEvent.Source.API, deed=ALICE, at=NOW)
    ask = runs.Ask("k", conf={mark: mark}, note=mark)
    run = runs.trigger(world.dag("plain", RUNTIME), ask, deed=ALICE, at=NOW)
    return ["/assets/sales?tab=events", "/assets/sales?key=k", f"/runs/{run.pk}"]


def in_logs(mark):
    run = runs.trigger(world.dag("plain", RUNTIME), runs.Ask("k"), deed=Deed("ann", "api", mark), at=NOW)
    type(run).objects.update(state="failed", error=mark, started_at=NOW, ended_at=NOW)
    LogLine.objects.create(run=run, attempt=1, at=NOW, text=mark, task_id=mark)
    row = world.sensor("inbox", outcome="failed", failures=1, sentence=mark, cursor=mark)
    SensorLook.objects.create(sensor=row, at=NOW, took=row.every, outcome="failed", sentence=mark, error=mark)
    return [f"/runs/{run.pk}", "/journal", "/sensors", "/sensors/inbox"]


def in_docs(mark):
    world.dag("plain", RUNTIME, description=mark)
    world.sensor("inbox", description=mark)
    return ["/dags/plain", "/sensors/inbox"]


def in_errors_of_definitions(mark):
    source = DefinitionSource.objects.create(name=f"{mark}.py", error=mark, traceback=mark, loaded_at=NOW)
    problem = {"code": "refused", "level": "error", "sentence": mark}
    world.dag("plain", RUNTIME, problems=[problem], source=source)
    world.sensor("inbox", problem=mark)
    return ["/definitions", "/dags/plain", "/sensors/inbox"]


PLACES = [in_keys, in_names, in_extra, in_logs, in_docs, in_errors_of_definitions]


@pytest.fixture
def client(user_of):
    client = Client()
    client.force_login(user_of(roles.ADMIN))
    return client


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("place", PLACES)
def test_is_text_and_nothing_else(client, place, mark):
    for url in place(mark):
        page = read(client.get(url))
        assert mark in page.text, url
        for element in page.elements:
            assert element.tag != "img", url
            for name, value in element.attributes.items():
                assert not name.startswith("on"), (url, name)
                assert not (name in ADDRESSES and value.strip().lower().startswith("javascript:")), (
                    url,
                    name,
                )


@pytest.mark.parametrize("mark", MARKS)
def test_in_an_address_is_found_to_be_nothing(client, mark):
    for url in (f"/assets/{quote(mark)}", f"/dags/{quote(mark)}", f"/sensors/{quote(mark)}"):
        answer = client.get(url)
        assert answer.status_code == 404, url
        assert read(answer).all("img") == []
