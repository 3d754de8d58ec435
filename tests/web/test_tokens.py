"""The page of personal tokens."""

import re

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from core.models import JournalEntry
from partitions_site import roles
from partitions_site.models import ApiToken
from tests.web.reading import read

pytestmark = pytest.mark.django_db
FORM = {"name": "nightly export", "scope": "read", "days": "30"}


def secret_on(answer):
    return re.search(r'id="secret"[^>]*value="(pt_[0-9a-zA-Z]+)"', answer.content.decode())[1]


class TestOwn:
    def test_an_empty_list_teaches(self, visitor):
        assert "A token is for a program" in read(visitor.get("/tokens")).text

    def test_one_that_is_made_is_shown_once_and_works(self, visitor):
        answer = visitor.post("/tokens", FORM)
        secret = secret_on(answer)
        assert answer.headers["Cache-Control"] == "no-store"
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        assert client.get("/api/v2/dags").status_code == 200
        again = visitor.get("/tokens").content.decode()
        assert secret not in again
        assert ApiToken.objects.get().token_key in again
        assert "just now" in read(visitor.get("/tokens")).text

    @pytest.mark.parametrize(
        ("scope", "words"), [("read", "may only read"), ("write", "what operators do"), ("all", "all that")]
    )
    def test_says_what_it_is_good_for_with_an_example_to_paste(self, visitor, scope, words):
        answer = visitor.post("/tokens", FORM | {"scope": scope})
        page = read(answer)
        assert words in page.all("section")[0].text
        example = next(each for each in page.all("input") if each.attributes.get("id") == "example")
        assert f"Bearer {secret_on(answer)}" in example.attributes["value"]

    def test_is_for_what_was_said_and_as_long(self, visitor):
        visitor.post("/tokens", FORM)
        row = ApiToken.objects.get()
        assert (row.name, row.scope) == ("nightly export", "read")
        assert round((row.expiry - row.created).total_seconds()) == 30 * 86_400
        visitor.post("/tokens", FORM | {"days": "0"})
        assert ApiToken.objects.latest("created").expiry is None

    @pytest.mark.parametrize(
        "wrong", [{"name": " "}, {"name": "x" * 101}, {"scope": "root"}, {"days": "99999"}]
    )
    def test_is_refused_where_it_makes_no_sense(self, visitor, wrong):
        answer = visitor.post("/tokens", FORM | wrong)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.content.decode()
        assert not ApiToken.objects.exists()

    def test_is_revoked_after_a_question(self, visitor):
        visitor.post("/tokens", FORM)
        url = f"/tokens/{ApiToken.objects.get().token_key}/revoke"
        assert "is refused from now on" in read(visitor.get(url)).text
        assert ApiToken.objects.exists()
        visitor.post(url)
        assert not ApiToken.objects.exists()
        assert [each.event for each in JournalEntry.objects.order_by("pk")] == ["token made", "token revoked"]
        assert JournalEntry.objects.latest("pk").via == "web"


class TestOthers:
    @pytest.fixture
    def theirs(self, db):
        owner = User.objects.create(username="eve")
        return ApiToken.objects.create(user=owner, expiry=None, name="of eve")[0]

    def test_are_nobodys_business(self, visitor, theirs):
        for page in ("/tokens", "/tokens?of=all"):
            assert "of eve" not in visitor.get(page).content.decode()
        assert visitor.get(f"/tokens/{theirs.token_key}/revoke").status_code == 404
        assert visitor.post(f"/tokens/{theirs.token_key}/revoke").status_code == 404
        assert ApiToken.objects.exists()

    def test_are_seen_and_revoked_by_admins(self, visitor_of, theirs):
        admin = visitor_of(roles.ADMIN)
        assert "of eve" not in admin.get("/tokens").content.decode()
        assert "of eve" in admin.get("/tokens?of=all").content.decode()
        admin.post(f"/tokens/{theirs.token_key}/revoke")
        assert not ApiToken.objects.exists()
        assert JournalEntry.objects.get().extra["owner"] == "eve"

    def test_over_the_api_too(self, visitor_of, user_of, theirs):
        client = APIClient()
        client.force_authenticate(user_of(roles.OPERATOR))
        assert client.get("/auth/tokens").json() == []
        assert client.get("/auth/tokens?all=true").status_code == 403
        assert client.delete(f"/auth/tokens/{theirs.token_key}").status_code == 404
        client.force_authenticate(user_of(roles.ADMIN))
        assert [each["owner"] for each in client.get("/auth/tokens?all=true").json()] == ["eve"]
        assert client.delete(f"/auth/tokens/{theirs.token_key}").status_code == 204

    def test_what_is_said_stays_text(self, visitor):
        visitor.post("/tokens", FORM | {"name": "<img src=x onerror=alert(1)>"})
        assert b"<img src=x" not in visitor.get("/tokens").content
