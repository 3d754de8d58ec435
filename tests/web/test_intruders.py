"""Every page against people who may not, forms that are forged, and texts that somebody meant ill with."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from core.models import DefinitionSource, HeldRun, JournalEntry, LogLine
from partitions_site import roles
from scheduling import runs
from scheduling.journal import Deed
from tests.engine import world
from tests.engine.world import NOW, REGIONS, consumer, emit, turn
from tests.web.reading import Page
from tests.web.screens import DEEDS, LOOKS, OPEN, address, names

pytestmark = pytest.mark.django_db

BAD = '<img src=x onerror=alert(1)>{{7*7}}"'


@pytest.fixture
def someone(user_of):
    def someone(role, **options):
        client = Client(raise_request_exception=False, **options)
        client.force_login(User.objects.filter(username=role).first() or user_of(role))
        return client

    return someone


@pytest.fixture
def somewhere(db):
    consumer("sum", {"sales": REGIONS}, writes=["totals"])
    emit("sales", "tw", "jp")
    turn()


class TestEveryScreen:
    def test_is_one_that_was_thought_of(self):
        assert len(DEEDS) > 10
        assert set(names()) > OPEN

    @pytest.mark.sqlite
    @pytest.mark.parametrize("name", [name for name in names() if name not in OPEN])
    @pytest.mark.parametrize("method", ["get", "post"])
    def test_is_shut_to_strangers(self, client, somewhere, name, method):
        answer = getattr(client, method)(address(name))
        assert answer.status_code == 302
        assert answer["Location"].startswith("/sign-in")

    @pytest.mark.parametrize("name", [name for name in names() if name not in OPEN])
    def test_looks_for_nothing_that_cannot_be_stored(self, someone, somewhere, name):
        """PostgreSQL raises for the character U+0000 wherever a text is compared."""
        admin = someone(roles.ADMIN)
        assert admin.get(f"{address(name)}?key=a%00b").status_code in (400, 405)
        if name not in LOOKS:
            assert admin.post(address(name), {"dag": "sum", "reason": "a\0b"}).status_code in (400, 405)
        if "sum" in address(name):
            assert admin.get(address(name).replace("sum", "a%00b")).status_code in (404, 405)

    @pytest.mark.parametrize("name", DEEDS)
    def test_lets_no_viewer_do_anything(self, someone, somewhere, name):
        before = (HeldRun.objects.filter(state="held").count(), JournalEntry.objects.count())
        answer = someone(roles.VIEWER).post(address(name), {"dag": "sum", "asset": "sales", "key": "us"})
        assert answer.status_code == 403
        assert (HeldRun.objects.filter(state="held").count(), JournalEntry.objects.count()) == before

    @pytest.mark.parametrize("name", [name for name in names() if name in LOOKS])
    def test_that_looks_takes_no_form(self, someone, somewhere, name):
        assert someone(roles.ADMIN).post(address(name)).status_code == 405

    @pytest.mark.sqlite
    @pytest.mark.parametrize("name", [*DEEDS, "logout", "theme", "login"])
    @pytest.mark.parametrize("htmx", [{}, {"HTTP_HX_REQUEST": "true"}])
    def test_believes_no_form_that_it_did_not_make(self, someone, somewhere, name, htmx):
        before = JournalEntry.objects.count()
        forger = someone(roles.ADMIN, enforce_csrf_checks=True)
        answer = forger.post(address(name), {"dag": "sum"}, HTTP_ORIGIN="https://evil.example", **htmx)
        assert answer.status_code == 403
        assert JournalEntry.objects.count() == before


class TestText:
    """Whatever somebody wrote is text on every page that shows it."""

    @pytest.fixture
    def poisoned(self, db):
        dag = consumer("sum", {BAD: REGIONS}, writes=["totals"])
        type(dag).objects.filter(pk=dag.pk).update(
            description=BAD, tags=[BAD], problems=[{"code": "x", "level": "error", "sentence": BAD}]
        )
        emit(BAD, "tw", BAD)
        plain = world.dag(BAD, {"type": "PartitionedAtRuntime"}, writes=["totals"])
        ask = runs.Ask(partition_key=BAD, note=BAD, conf={BAD: BAD})
        run = runs.trigger(plain, ask, deed=Deed(by=BAD[:150], via="api", reason=BAD), at=NOW)
        type(run).objects.filter(pk=run.pk).update(state="failed", error=BAD, ended_at=NOW, started_at=NOW)
        LogLine.objects.create(run=run, attempt=1, at=NOW, text=BAD, task_id=BAD)
        DefinitionSource.objects.create(name=BAD, error=BAD, traceback=BAD, loaded_at=NOW)
        turn()
        return run

    @pytest.fixture
    def pages(self, poisoned):
        held = HeldRun.objects.get()
        return {
            "/": 200,
            "/held": 200,
            f"/held/{held.pk}": 200,
            f"/held/{held.pk}/fire": 200,
            "/dags": 200,
            "/dags/sum": 200,
            reverse("dag", args=[BAD]): 200,
            reverse("asset", args=[BAD]): 200,
            "/runs": 200,
            f"/runs/{poisoned.pk}": 200,
            "/definitions": 200,
            "/journal": 200,
            "/backfills/new?dag=sum": 200,
            "/held?dag=<img src=x onerror=alert(1)>": 200,
            "/assets/<img src=x onerror=alert(1)>{{7*7}}": 404,
        }

    def test_runs_nothing_and_means_nothing(self, someone, pages):
        client = someone(roles.ADMIN)
        for page, status in pages.items():
            answer = client.get(page)
            assert answer.status_code == status, page
            html = answer.content.decode()
            assert "<img src=x" not in html, page
            assert "onerror=alert(1)>" not in html.replace("onerror=alert(1)&gt;", ""), page
            assert all(each.tag != "img" for each in Page(html).elements), page

    def test_leads_nowhere(self, someone, pages):
        client = someone(roles.ADMIN)
        for page in pages:
            for element in Page(client.get(page).content.decode()).elements:
                for name, value in element.attributes.items():
                    assert not name.startswith("on"), page
                    assert not value.strip().lower().startswith(("javascript:", "data:text")), page

    def test_is_there_to_be_read(self, someone, pages):
        client = someone(roles.ADMIN)
        for page in ("/journal", "/definitions", "/runs"):
            assert "{{7*7}}" in client.get(page).content.decode(), page


class TestHeaders:
    @pytest.mark.parametrize("onward", ["/a\r\nSet-Cookie: x=1", "/\n//evil.example", "\r\n/x"])
    def test_take_no_lines_of_somebody_else(self, client, user_of, onward):
        user_of(roles.VIEWER)
        answer = client.post("/sign-in", {"username": "viewer", "password": "viewer-secret", "next": onward})
        assert answer.status_code == 302
        assert "\n" not in answer["Location"]
        assert "x" not in answer.cookies

    def test_of_htmx_neither(self, client, somewhere):
        answer = client.get("/held?key=a%0d%0aX-Evil:1", HTTP_HX_REQUEST="true")
        assert "X-Evil" not in answer.headers
        assert "\n" not in answer.headers.get("HX-Redirect", "")

    def test_whatever_host_is_asked_for(self, client, somewhere):
        client.raise_request_exception = False
        assert client.get("/", HTTP_HOST="evil.example").status_code == 400
