"""Tokens that people make for their programs: shown once, kept as digests, ending with their owner."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone

from core.models import JournalEntry
from partitions_site import roles
from partitions_site.models import ApiToken
from tests.api.asking import bearer

pytestmark = pytest.mark.django_db


class TestPersonalTokens:
    def made(self, api, **body):
        answer = api.post("/auth/tokens", {"name": "nightly export"} | body)
        assert answer.status_code == 201, answer.json()
        return answer.json()

    def test_a_token_is_shown_once_and_kept_as_a_digest(self, api):
        made = self.made(api)
        assert made["token"].startswith("pt_")
        assert made["id"] == made["token"][:15]
        assert made["expires_at"] is None
        assert ApiToken.objects.get().digest != made["token"]
        [listed] = api.get("/auth/tokens").json()
        assert "token" not in listed
        assert listed["name"] == "nightly export"

    @pytest.mark.parametrize("scheme", ["Bearer", "Token", "bearer"])
    def test_lets_a_program_in(self, api, anyone, lab, scheme):
        token = self.made(api)["token"]
        answer = anyone.post(
            "/api/v2/assets/events",
            {"asset_id": lab["plain_asset"].pk},
            HTTP_AUTHORIZATION=f"{scheme} {token}",
        )
        assert answer.status_code == 200

    def test_notes_when_it_was_last_used(self, api, anyone):
        token = self.made(api)["token"]
        anyone.get("/api/v2/assets", **bearer(token))
        first = ApiToken.objects.get().last_used_at
        anyone.get("/api/v2/assets", **bearer(token))
        assert first is not None
        assert ApiToken.objects.get().last_used_at == first

    def test_no_cache_keeps_one_that_is_made(self, api):
        answer = api.post("/auth/tokens", {"name": "nightly"})
        assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")

    def test_ends_after_the_days_asked_for(self, api, anyone):
        token = self.made(api, days=30)["token"]
        row = ApiToken.objects.get()
        assert timedelta(days=29, hours=23) < row.expiry - timezone.now() <= timedelta(days=30)
        ApiToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
        assert anyone.get("/api/v2/assets", **bearer(token)).status_code == 401

    def test_is_revoked_by_its_owner_and_by_admins(self, api, api_of, anyone):
        made = self.made(api)
        assert api_of(roles.EDITOR).delete(f"/auth/tokens/{made['id']}").status_code == 404
        assert api.delete(f"/auth/tokens/{made['id']}").status_code == 204
        assert anyone.get("/api/v2/assets", **bearer(made["token"])).status_code == 401
        assert api.delete(f"/auth/tokens/{made['id']}").status_code == 404

    def test_a_wrong_one_is_refused(self, anyone):
        assert anyone.get("/api/v2/assets", **bearer("pt_" + "0" * 64)).status_code == 401

    def test_sleeps_while_its_owner_is_shut_out_and_ends_with_them(self, api, anyone):
        token = self.made(api)["token"]
        owners = User.objects.filter(username=roles.OPERATOR)
        for active, status in ((False, 401), (True, 200)):
            owners.update(is_active=active)
            assert anyone.get("/api/v2/assets", **bearer(token)).status_code == status
        owners.delete()
        assert anyone.get("/api/v2/assets", **bearer(token)).status_code == 401

    def test_does_no_more_than_its_owner_may_by_now(self, api, anyone, lab):
        token = self.made(api, scope="all")["token"]
        User.objects.get(username=roles.OPERATOR).groups.set(Group.objects.filter(name=roles.VIEWER))
        answer = anyone.patch("/api/v2/dags/lab_plain", {"is_paused": True}, **bearer(token))
        assert answer.status_code == 403
        assert anyone.get("/api/v2/assets", **bearer(token)).status_code == 200

    def test_making_and_revoking_are_in_the_journal(self, api):
        made = self.made(api)
        api.delete(f"/auth/tokens/{made['id']}")
        entries = JournalEntry.objects.order_by("id").values_list("event", "by", "via")
        assert list(entries) == [("token made", "operator", "api"), ("token revoked", "operator", "api")]
        assert made["token"] not in str(list(JournalEntry.objects.values()))

    @pytest.mark.parametrize(
        "body", [{}, {"name": "x", "days": 0}, {"name": "x" * 101}, {"name": "x", "scope": 1}]
    )
    def test_refuses_what_does_not_fit(self, api, body):
        assert api.post("/auth/tokens", body).status_code == 422
