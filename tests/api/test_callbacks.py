"""Webhooks call back, with the token of their run and no other."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, DagRun, JournalEntry
from partitions_site import roles
from scheduling import claims, webhooks
from tests.api.external import trigger
from tests.engine.world import NOW

URL = "/api/v2/runs"


class TestCallback:
    @pytest.fixture
    def waiting(self, external):
        """A run that a webhook took with 202, as far as our worker has brought it."""
        external.executor, external.executor_terms = "webhook", {"callback_within": 1200}
        external.save()
        [run] = trigger(external, "k")
        run = claims.claim(run.pk, worker="w", now=NOW)
        claims.entrust(run, "webhook example.org", until=NOW + timedelta(hours=1))
        return run

    @pytest.fixture
    def call_back(self, anyone, waiting):
        def call_back(body, token=None, run=waiting.pk):
            anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {token or webhooks.token_of(waiting)}")
            return anyone.post(f"{URL}/{run}/callback", body)

        return call_back

    def test_needs_the_token_and_no_login(self, call_back):
        answer = call_back({"state": "success", "log": "done"})
        assert (answer.status_code, answer.json()["state"]) == (200, "success")
        assert AssetEvent.objects.count() == 2

    def test_is_in_the_journal_in_the_name_of_the_run(self, call_back, waiting):
        call_back({"state": "success"})
        entry = JournalEntry.objects.get(event="run reported")
        assert (entry.by, entry.via, entry.extra) == (f"run {waiting.run_id}", "api", {"state": "success"})

    def test_may_say_that_it_goes_on(self, call_back, waiting):
        answer = call_back({"state": "running"})
        assert (answer.status_code, answer.json()["state"]) == (200, "running")
        waiting.refresh_from_db()
        assert waiting.lease_until > NOW + timedelta(hours=1)

    def test_may_say_that_it_failed(self, call_back):
        assert call_back({"state": "failed", "error": "no disk"}).json()["error"] == "no disk"

    def test_comes_once(self, call_back):
        call_back({"state": "success"})
        answer = call_back({"state": "success"})
        assert (answer.status_code, "has ended: success" in answer.json()["detail"]) == (409, True)

    @pytest.mark.parametrize("token", ["x", "0" * 64, "é"])
    def test_with_another_token_is_refused(self, call_back, token):
        answer = call_back({"state": "success"}, token.encode("utf-8").decode("latin-1"))
        assert answer.status_code == 403
        assert answer.json() == {"detail": "The token is not for this attempt at this run"}
        assert DagRun.objects.get().state == "running"

    def test_of_no_run_is_refused_alike(self, call_back, waiting):
        answer = call_back({"state": "success"}, run=waiting.pk + 1)
        assert answer.json() == {"detail": "The token is not for this attempt at this run"}

    def test_without_a_token_is_refused(self, anyone, waiting):
        assert anyone.post(f"{URL}/{waiting.pk}/callback", {"state": "success"}).status_code == 403

    def test_with_the_token_of_a_login_is_refused(self, call_back, user_of):
        from partitions_site.models import ApiToken

        _, token = ApiToken.objects.create(user=user_of(roles.ADMIN), expiry=None)
        assert call_back({"state": "success"}, token).status_code == 403

    def test_cannot_be_made_of_the_token_of_another_run(self, call_back, external):
        [other] = trigger(external, "other")
        other = claims.claim(other.pk, worker="w", now=NOW)
        assert call_back({"state": "success"}, webhooks.token_of(other)).status_code == 403

    def test_that_does_not_fit_is_refused(self, call_back):
        assert call_back({"state": "lost"}).status_code == 422
