"""Whatever somebody wrote, of whatever somebody meant ill with, is text on every page that shows it."""

from urllib.parse import quote

import pytest
from django.urls import reverse

from core.models import Backfill, Dag, DefinitionSource, HeldRun, LogLine
from partitions_site import roles
from scheduling import backfills, events, runs
from scheduling.events import EventReport
from scheduling.journal import Deed
from tests.engine import world
from tests.engine.world import NOW, REGIONS, consumer, emit, turn
from tests.web.reading import Page

pytestmark = pytest.mark.django_db

BAD = '<img src=x onerror=alert(1)>{{7*7}}"'
LINK = "javascript:alert(1)//{{7*7}}"


@pytest.fixture(params=[BAD, LINK], ids=["a tag", "a link"])
def bad(request):
    return request.param


@pytest.fixture
def poisoned(db, bad):
    """An asset, Dags, keys, runs, a sensor, a file and a backfill, all called so, with a log that says so."""
    dag = consumer("sum", {bad: REGIONS}, writes=["totals"])
    problem = {"code": "x", "level": "error", "sentence": bad}
    Dag.objects.filter(pk=dag.pk).update(description=bad, tags=[bad], problems=[problem])
    deed = Deed(by=bad[:150], via="api", reason=bad)
    report = EventReport(world.asset(bad, group=bad), bad, extra={bad: bad, "rows": 5})
    events.register_events([report], source="api", deed=deed, at=NOW)
    emit(bad, "tw")
    plain = world.dag(bad, {"type": "PartitionedAtRuntime"}, writes=[bad])
    terms = {"executor": "webhook", "executor_terms": {"url": bad}}
    Dag.objects.filter(pk=plain.pk).update(**terms)
    ask = runs.Ask(partition_key=bad, note=bad, conf={bad: bad})
    run = runs.trigger(plain, ask, deed=deed, at=NOW)
    type(run).objects.filter(pk=run.pk).update(state="failed", error=bad, ended_at=NOW, started_at=NOW)
    LogLine.objects.create(run=run, attempt=1, at=NOW, text=bad, task_id=bad)
    source = DefinitionSource.objects.create(name=bad, error=bad, traceback=bad, loaded_at=NOW)
    world.sensor(bad, source=source, failures=1)
    turn()
    backfills.start(backfills.Ask((plain,), keys=(bad, "b"), title=bad), deed=deed, at=NOW)
    return run


@pytest.fixture
def pages(poisoned, bad):
    held, filled, name = HeldRun.objects.get(), Backfill.objects.get(), quote(bad, safe="")
    asset, dag = reverse("asset", args=[bad]), reverse("dag", args=[bad])
    return [
        *("/", "/held", "/dags", "/runs", "/backfills", "/sensors", "/definitions", "/journal", "/health"),
        *(f"/held/{held.pk}", f"/held/{held.pk}/fire", f"/runs/{poisoned.pk}", f"/runs/{poisoned.pk}/mark"),
        *(f"/backfills/{filled.pk}", f"/backfills/{filled.pk}/cancel", reverse("sensor", args=[bad])),
        *(
            asset,
            f"{asset}?key={name}",
            f"{asset}?heat={name}",
            f"{asset}?sel={name}",
            f"{asset}?in.x={name}",
        ),
        *(f"{asset}?tab=events", f"{asset}?tab=definition", f"{asset}?zoom={name}", f"{asset}?state={name}"),
        *(
            dag,
            f"{dag}?why={name}",
            "/dags/sum",
            f"/dags/sum?why={name}",
            f"/dags?q={name}",
            f"/dags?tag={name}",
        ),
        *(f"/trigger?dag={name}&key={name}&conf={name}", f"/meaning?dag={name}&key={name}"),
        *(f"/listening?dag=sum&keys={name}", f"/listening?dag={name}"),
        *(f"/record?asset={name}&key={name}", f"/mark?asset={name}&sel={name}"),
        *(f"/backfills/new?dag={name}", f"/backfills/new?dag={name}&selection={name}&title={name}"),
        *(f"/held?dag={name}", f"/held?key={name}", f"/runs?key={name}", f"/journal?by={name}&event={name}"),
        f"/?q={name}",
    ]


@pytest.fixture
def shown(visitor_of, pages):
    """What an administrator is answered, by its address; pages that do not look at a text are among them."""
    admin = visitor_of(roles.ADMIN)
    found = {page: admin.get(page) for page in pages}
    assert {page: answer.status_code for page, answer in found.items() if answer.status_code != 200} == {}
    return {page: answer.content.decode() for page, answer in found.items()}


def test_it_runs_nothing_and_means_nothing(shown):
    for page, html in shown.items():
        assert "<img src=x" not in html, page
        assert all(each.tag != "img" for each in Page(html).elements), page


def test_it_leads_nowhere(shown):
    for page, html in shown.items():
        for element in Page(html).elements:
            for name, value in element.attributes.items():
                assert not name.startswith("on"), (page, element)
                is_address = name in ("href", "src", "action", "formaction") or name.startswith("hx-")
                assert not (is_address and value.strip().lower().startswith(("javascript:", "data:"))), page


def test_it_is_there_to_be_read(shown):
    silent = {page.partition("?")[0] for page, html in shown.items() if "{{7*7}}" not in html}
    assert {page for page in silent if not page.endswith("/cancel")} == {"/health", "/meaning"}


def test_an_address_that_is_not_found_says_so_in_text(visitor_of, bad):
    answer = visitor_of(roles.ADMIN).get(f"/assets/{quote(bad, safe='')}")
    assert answer.status_code == 404
    assert "<img src=x" not in answer.content.decode()
