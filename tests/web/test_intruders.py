"""Every page against people who may not, forms that are forged, and headers that somebody meant ill with."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.models import HeldRun, JournalEntry
from partitions_site import roles
from tests.engine.world import REGIONS, consumer, emit, turn
from tests.web.screens import DEEDS, LOOKS, OPEN, address, names

pytestmark = pytest.mark.django_db


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


class TestHalfOfACharacter:
    """A form in UTF-7 can hold half a surrogate pair, which nothing can write down."""

    TYPE = "multipart/form-data; boundary=x; charset=utf-7"

    @pytest.fixture
    def body(self):
        fields = {
            "dag": "sum",
            "asset": "sales",
            **dict.fromkeys(("key", "reason", "username", "next"), "+2AA-"),
        }
        parts = (
            f'--x\r\nContent-Disposition: form-data; name="{each}"\r\n\r\n{fields[each]}' for each in fields
        )
        return "\r\n".join((*parts, "--x--")).encode()

    @pytest.mark.parametrize("name", DEEDS)
    def test_is_refused_by_every_deed(self, someone, somewhere, body, name):
        answer = someone(roles.ADMIN).generic("POST", address(name), body, content_type=self.TYPE)
        assert answer.status_code in (400, 405)

    @pytest.mark.parametrize("name", ["login", "theme"])
    def test_is_refused_before_anybody_has_signed_in(self, db, body, name):
        stranger = Client(raise_request_exception=False)
        assert stranger.generic("POST", address(name), body, content_type=self.TYPE).status_code == 400


class TestACurrentPageThatIsNoAddress:
    HTMX = {"HX-Request": "true", "HX-Target": "dialog", "HX-Current-URL": "http://["}

    def test_leads_a_stranger_to_the_sign_in(self, somewhere):
        answer = Client(raise_request_exception=False).get("/held", headers=self.HTMX)
        assert answer["HX-Redirect"] == "/sign-in?next=%2F"

    def test_does_not_fail_a_deed_that_was_done(self, someone, somewhere):
        pause = {"dag": "sum", "paused": "yes"}
        answer = someone(roles.ADMIN).post("/pause", pause, headers=self.HTMX)
        assert answer.status_code == 200
        assert JournalEntry.objects.filter(event__contains="paused").exists()


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
