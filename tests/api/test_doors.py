"""Addresses that lead elsewhere, or nowhere."""

from datetime import timedelta

import pytest
from django.utils import timezone

from partitions_site import roles
from partitions_site.api import bearers
from partitions_site.models import ApiToken

pytestmark = pytest.mark.django_db


class TestLogin:
    def test_leads_to_the_page(self, anyone, settings):
        answer = anyone.get("/api/v2/auth/login?next=/dags")
        assert answer.status_code == 307
        assert answer.headers["Location"].endswith("?next=%2Fdags")

    @pytest.mark.parametrize(
        "away", ["https://elsewhere.example/", "//elsewhere.example", "javascript:alert(1)"]
    )
    def test_does_not_lead_away(self, anyone, away):
        answer = anyone.get("/api/v2/auth/login", {"next": away})
        assert "next" not in answer.headers["Location"]


class TestLogout:
    def test_ends_the_web_token(self, anyone, user_of):
        token = bearers.web_token(user_of(roles.VIEWER), life=timedelta(hours=1), at=timezone.now())
        anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        answer = anyone.get("/api/v2/auth/logout")
        assert answer.status_code == 307
        assert anyone.get("/api/v2/assets").status_code == 403

    def test_leaves_personal_tokens_alone(self, anyone, user_of):
        row, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
        anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        anyone.get("/api/v2/auth/logout")
        assert ApiToken.objects.filter(pk=row.pk).exists()


class TestNowhere:
    def test_the_configuration_is_not_shown(self, api_of):
        assert api_of(roles.ADMIN).get("/api/v2/config").status_code == 403

    @pytest.mark.parametrize(
        "url", ["/api/v2/nope", "/api/v1/assets", "/api/v2/assets/", "/api/v2/assets/1/nope"]
    )
    def test_an_unknown_address_says_so(self, anyone, url):
        answer = anyone.get(url)
        assert (answer.status_code, answer.json()) == (404, {"error": "API route not found"})
        assert anyone.post(url, {}).status_code == 405
