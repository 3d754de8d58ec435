"""What looks after browsers lets requests of programs pass, and only those."""

import pytest
from django.core.checks import run_checks
from django.db import connection
from django.http import HttpResponse
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext

from core.models import AssetEvent
from partitions_site import programs
from partitions_site.models import ApiToken
from tests.engine import world

pytestmark = pytest.mark.django_db

ADDRESS = "/api/v2/assets"


@pytest.fixture
def token(django_user_model):
    return ApiToken.objects.create(user=django_user_model.objects.create_superuser("loader"))[1]


@pytest.fixture
def signed_in(client, django_user_model):
    client.force_login(django_user_model.objects.create_superuser("ann"))
    return client


@pytest.mark.parametrize(
    ("authorization", "is_one"),
    [
        *((header, True) for header in ("Bearer x", "bearer x", "Token x", "bearer")),
        *((header, False) for header in ("", "Basic x", "Bearerx", " Bearer x")),
    ],
)
def test_a_program_says_so(authorization, is_one):
    assert programs.has_token(authorization) is is_one


def middleware(inner):
    """All of it, around `inner`."""
    for each in (programs.Htmx, programs.Messages, programs.SignedIn, programs.Sessions):
        inner = each(inner)
    return inner


@pytest.mark.parametrize(
    ("path", "headers", "passes"),
    [
        (ADDRESS, {"HTTP_AUTHORIZATION": "Bearer x"}, True),
        (ADDRESS, {"HTTP_AUTHORIZATION": "Basic x"}, False),
        (ADDRESS, {}, False),
        ("/assets", {"HTTP_AUTHORIZATION": "Bearer x"}, False),
    ],
)
def test_nothing_is_put_on_what_passes(path, headers, passes):
    request, seen = RequestFactory().get(path, **headers), set()
    middleware(lambda request: seen.update(vars(request)) or HttpResponse())(request)
    assert ({"session", "user", "_messages", "htmx"} & seen == set()) is passes


def test_a_page_behind_a_proxy_with_tokens_of_its_own_is_of_who_has_signed_in(signed_in):
    assert signed_in.get("/", HTTP_AUTHORIZATION="Bearer of-the-proxy").status_code == 200


def test_a_session_is_worth_nothing_beside_a_token(signed_in, token):
    assert signed_in.get(ADDRESS).status_code == 200
    assert signed_in.get(ADDRESS, HTTP_AUTHORIZATION="Bearer pt_wrong").status_code == 401
    assert signed_in.get(ADDRESS, HTTP_AUTHORIZATION="Basic eDp5").status_code == 200
    body = {"asset_id": world.asset("sales").pk}
    headers = {"HTTP_AUTHORIZATION": f"Bearer {token}", "content_type": "application/json"}
    assert signed_in.post(f"{ADDRESS}/events", body, **headers).status_code == 200
    assert AssetEvent.objects.get().created_by == "loader"


def test_no_query_is_about_a_session(signed_in, token):
    with CaptureQueriesContext(connection) as queries:
        assert signed_in.get(ADDRESS, HTTP_AUTHORIZATION=f"Bearer {token}").status_code == 200
    assert not any("session" in each["sql"] for each in queries)


def test_django_finds_what_it_looks_for():
    assert run_checks() == []
