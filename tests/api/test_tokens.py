"""Signing in for programs: web tokens as Airflow's clients want them, cookies and sessions."""

import base64
from datetime import timedelta

import jwt
import pytest
from django.utils import timezone

from partitions_site import roles
from partitions_site.api import bearers
from partitions_site.models import ApiToken
from tests.api.asking import bearer

pytestmark = pytest.mark.django_db

SECRET = {"username": "viewer", "password": "viewer-secret"}


@pytest.fixture
def viewer(user_of):
    return user_of(roles.VIEWER)


class TestSigningIn:
    def test_gives_a_token_for_a_name_and_a_password(self, anyone, viewer):
        answer = anyone.post("/auth/token", SECRET)
        assert answer.status_code == 201
        assert list(answer.json()) == ["access_token"]
        assert anyone.get("/api/v2/assets", **bearer(answer.json()["access_token"])).status_code == 200

    @pytest.mark.parametrize("url", ["/auth/token", "/auth/token/cli"])
    def test_no_cache_keeps_the_token(self, anyone, user_of, url):
        user_of(roles.VIEWER)
        answer = anyone.post(url, {"username": "viewer", "password": "viewer-secret"})
        assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")

    def test_takes_a_form_too(self, anyone, viewer):
        form = "username=viewer&password=viewer-secret"
        answer = anyone.post("/auth/token", form, content_type="application/x-www-form-urlencoded")
        assert answer.status_code == 201

    def test_takes_no_form_for_the_command_line(self, anyone, viewer):
        form = "username=viewer&password=viewer-secret"
        answer = anyone.post("/auth/token/cli", form, content_type="application/x-www-form-urlencoded")
        assert answer.status_code == 415

    def test_gives_the_command_line_a_token_of_a_shorter_life(self, anyone, viewer):
        tokens = [
            anyone.post(address, SECRET).json()["access_token"]
            for address in ("/auth/token", "/auth/token/cli")
        ]
        lives = [claims["exp"] - claims["iat"] for claims in map(unverified, tokens)]
        assert lives == [86_400, 3_600]

    @pytest.mark.parametrize(
        ("body", "status", "detail"),
        [
            ({"username": "viewer", "password": "nope"}, 401, "Invalid credentials"),
            ({"username": "nobody", "password": "viewer-secret"}, 401, "Invalid credentials"),
            ({"username": "viewer", "password": ""}, 400, "Username and password must not be empty"),
            ({"username": "viewer"}, 422, "Field required: password"),
            ({}, 422, "Field required: username and password"),
            ([1], 422, "Field required: username and password"),
            ({"username": "viewer", "password": 7}, 422, "Field required: password"),
        ],
    )
    def test_refuses_with_a_sentence(self, anyone, viewer, body, status, detail):
        answer = anyone.post("/auth/token", body)
        assert (answer.status_code, answer.json()) == (status, {"detail": detail})

    def test_refuses_whoever_is_not_active_any_more(self, anyone, viewer):
        viewer.is_active = False
        viewer.save()
        assert anyone.post("/auth/token", SECRET).status_code == 401

    def test_gives_no_token_without_a_password(self, anyone):
        answer = anyone.get("/auth/token")
        assert answer.status_code == 403
        assert "password" in answer.json()["detail"]

    def test_forgets_sign_ins_that_have_run_out(self, anyone, viewer):
        past = timezone.now() - timedelta(hours=1)
        ApiToken.objects.create(user=viewer, kind=ApiToken.Kind.SIGN_IN, expiry=timedelta(hours=-1))
        ApiToken.objects.create(user=viewer, kind=ApiToken.Kind.PERSONAL, expiry=timedelta(hours=-1))
        anyone.post("/auth/token", SECRET)
        left = ApiToken.objects.filter(expiry__lt=past + timedelta(minutes=1))
        assert [token.kind for token in left] == [ApiToken.Kind.PERSONAL]


def unverified(token):
    return jwt.decode(token, options={"verify_signature": False})


class TestWebToken:
    @pytest.fixture
    def token(self, anyone, viewer):
        return anyone.post("/auth/token", SECRET).json()["access_token"]

    def refused(self, anyone, token):
        answer = anyone.get("/api/v2/assets", **bearer(token))
        return (answer.status_code, answer.json()) == (403, {"detail": "Invalid JWT token"})

    def test_ends_when_its_row_is_taken_away(self, anyone, token):
        ApiToken.objects.all().delete()
        assert self.refused(anyone, token)

    def test_ends_with_the_password(self, anyone, viewer, token):
        viewer.set_password("another")
        viewer.save()
        assert self.refused(anyone, token)

    def test_ends_with_its_owner(self, anyone, viewer, token):
        viewer.is_active = False
        viewer.save()
        assert self.refused(anyone, token)

    def test_ends_after_its_life(self, anyone, viewer):
        token = bearers.web_token(viewer, life=timedelta(seconds=-1), at=timezone.now())
        assert self.refused(anyone, token)

    @pytest.mark.parametrize("made", ["nonsense", "a.b.c", ""])
    def test_refuses_what_is_no_token(self, anyone, made):
        assert self.refused(anyone, made)

    def test_refuses_a_token_that_another_key_signed(self, anyone, token):
        forged = jwt.encode(
            unverified(token), "another key, at least as long as it must be", algorithm="HS256"
        )
        assert self.refused(anyone, forged)

    def test_refuses_a_token_that_nothing_signed(self, anyone, token):
        assert self.refused(anyone, jwt.encode(unverified(token), None, algorithm="none"))

    def test_refuses_a_token_for_somebody_else(self, anyone, token, user_of):
        other = unverified(token) | {"sub": str(user_of(roles.ADMIN).pk)}
        signed = jwt.encode(other, bearers._signing_key(), algorithm=bearers.ALGORITHM)
        assert self.refused(anyone, signed)

    def test_is_read_from_the_cookie(self, anyone, token):
        anyone.cookies["_token"] = token
        assert anyone.get("/api/v2/assets").status_code == 200


class TestOtherManners:
    """A name and a password go to `/auth/token`, and nowhere else."""

    @pytest.mark.parametrize("scheme", ["Basic", "Digest", "Negotiate", "JWT"])
    def test_of_signing_in_are_none(self, anyone, user_of, scheme):
        user_of(roles.ADMIN)
        given = base64.b64encode(b"admin:admin-secret").decode()
        anyone.credentials(HTTP_AUTHORIZATION=f"{scheme} {given}")
        answer = anyone.get("/api/v2/assets")
        assert (answer.status_code, answer.json()) == (401, {"detail": "Not authenticated"})


class TestCookie:
    """A cookie goes along with whatever page a browser is on: a write from another site is nobody's."""

    @pytest.fixture
    def operator(self, anyone, user_of):
        anyone.cookies["_token"] = bearers.web_token(
            user_of(roles.OPERATOR), life=timedelta(hours=1), at=timezone.now()
        )
        return anyone

    def test_writes_from_here(self, operator, lab):
        body = {"asset_id": lab["plain_asset"].pk}
        assert operator.post("/api/v2/assets/events", body).status_code == 200
        assert (
            operator.post("/api/v2/assets/events", body, HTTP_ORIGIN="http://testserver").status_code == 200
        )

    def test_does_not_write_from_elsewhere(self, operator, lab):
        body = {"asset_id": lab["plain_asset"].pk}
        answer = operator.post("/api/v2/assets/events", body, HTTP_ORIGIN="https://elsewhere.example")
        assert answer.status_code == 401


class TestSession:
    """Pages call the API with their session; such a write needs the page's token."""

    def test_reads(self, client, viewer):
        client.force_login(viewer)
        assert client.get("/api/v2/assets").status_code == 200

    def test_does_not_write_without_the_token_of_the_page(self, lab, user_of):
        from rest_framework.test import APIClient

        client = APIClient(enforce_csrf_checks=True)
        client.force_login(user_of(roles.OPERATOR))
        answer = client.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk})
        assert answer.status_code == 403
        assert "CSRF" in answer.json()["detail"]
