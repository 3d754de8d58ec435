"""Writes that are sent twice: those with an `Idempotency-Key` happen once."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, Backfill, DagRun
from partitions_site import roles
from partitions_site.models import GivenAnswer

pytestmark = pytest.mark.django_db

TRIGGER = "/api/v2/dags/lab_plain/dagRuns"
DATES = {
    "dag_id": "lab_hourly_sales",
    "from_date": "2026-02-18T00:00:00Z",
    "to_date": "2026-02-18T02:00:00Z",
}


def post(client, url, body, key="k"):
    return client.post(url, body, HTTP_IDEMPOTENCY_KEY=key)


class TestBulk:
    BULK = "/api/v2/assets/events/bulk"

    def test_twice_records_them_once(self, api, lab):
        body = [{"asset_id": lab["plain_asset"].pk, "partition_key": key} for key in ("a", "b")]
        first, second = post(api, self.BULK, body), post(api, self.BULK, body)
        assert first.json()["created"] == 2
        assert (second.status_code, second.json()) == (200, first.json())
        assert second.headers["Idempotency-Replayed"] == "true"
        assert AssetEvent.objects.count() == 2

    def test_others_under_the_same_key_are_refused(self, api, lab):
        for key, status in (("a", 200), ("b", 422)):
            body = [{"asset_id": lab["plain_asset"].pk, "partition_key": key}]
            assert post(api, self.BULK, body).status_code == status
        assert AssetEvent.objects.get().partition_key == "a"

    def test_a_refusal_keeps_nothing(self, api, lab):
        assert post(api, self.BULK, [{"asset_id": 0}]).status_code == 422
        body = [{"asset_id": lab["plain_asset"].pk}]
        assert post(api, self.BULK, body).status_code == 200

    def test_lines_are_told_apart_like_a_list(self, api, lab):
        line = f'{{"asset_id": {lab["plain_asset"].pk}, "partition_key": "a"}}\n'
        for _ in range(2):
            kind = "application/x-ndjson"
            answer = api.generic("POST", self.BULK, line, content_type=kind, HTTP_IDEMPOTENCY_KEY="lines")
            assert answer.json()["created"] == 1
        assert AssetEvent.objects.count() == 1


class TestTrigger:
    def test_twice_makes_one_run_and_one_answer(self, api, lab):
        first, second = post(api, TRIGGER, {}), post(api, TRIGGER, {})
        assert (first.status_code, second.status_code) == (200, 200)
        assert first.json() == second.json()
        assert "Idempotency-Replayed" not in first.headers
        assert second.headers["Idempotency-Replayed"] == "true"
        assert DagRun.objects.count() == 1

    def test_without_a_key_makes_two(self, api, lab):
        api.post(TRIGGER, {}), api.post(TRIGGER, {})
        assert DagRun.objects.count() == 2

    def test_another_request_under_the_same_key_is_refused(self, api, lab):
        post(api, TRIGGER, {})
        answer = post(api, TRIGGER, {"note": "other"})
        assert answer.status_code == 422
        assert "was used for another request" in answer.json()["detail"]
        assert DagRun.objects.count() == 1

    def test_a_refusal_keeps_nothing(self, api, lab):
        assert post(api, TRIGGER, {"partition_key": "k"}).status_code == 400
        assert not GivenAnswer.objects.exists()
        assert post(api, TRIGGER, {}).status_code == 200

    def test_a_key_is_its_users(self, api, api_of, lab):
        post(api, TRIGGER, {})
        assert "Idempotency-Replayed" not in post(api_of(roles.ADMIN), TRIGGER, {}).headers
        assert DagRun.objects.count() == 2

    def test_nobody_gets_an_answer_that_they_may_not_ask_for(self, api, api_of, lab):
        post(api, TRIGGER, {})
        assert post(api_of(roles.VIEWER), TRIGGER, {}).status_code == 403

    def test_after_a_day_a_key_is_new(self, api, lab):
        post(api, TRIGGER, {})
        GivenAnswer.objects.update(given_at=GivenAnswer.objects.get().given_at - timedelta(hours=25))
        assert "Idempotency-Replayed" not in post(api, TRIGGER, {}).headers

    @pytest.mark.parametrize("key", ["", "a" * 251, "a\x7fb"])
    def test_a_key_that_cannot_be_one_is_refused(self, api, lab, key):
        assert post(api, TRIGGER, {}, key).status_code == 422
        assert not DagRun.objects.exists()


class TestBackfill:
    def test_twice_starts_one(self, api, lab):
        first, second = (post(api, "/api/v2/backfills", DATES) for _ in range(2))
        assert first.json()["id"] == second.json()["id"]
        assert Backfill.objects.count() == 1

    def test_without_a_key_the_second_is_a_conflict(self, api, lab):
        api.post("/api/v2/backfills", DATES)
        assert api.post("/api/v2/backfills", DATES).status_code == 409


class TestMaterialize:
    def test_twice_makes_one_run(self, api, lab):
        url = f"/api/v2/assets/{lab['hourly_sales'].pk}/materialize"
        for _ in range(2):
            assert post(api, url, {"partition_key": "2026-03-10T09:00:00"}).status_code == 200
        assert DagRun.objects.count() == 1
