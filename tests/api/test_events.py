"""Events come in by the API, one at a time, and a repeated one once."""

import pytest

from core.models import AssetEvent, JournalEntry
from partitions_site import roles

URL = "/api/v2/assets/events"
BULK = "/api/v2/assets/events/bulk"


@pytest.fixture
def orders(lab):
    return lab["regional_orders"].pk


class TestReport:
    def test_answers_with_the_event(self, api, orders):
        answer = api.post(URL, {"asset_id": orders, "partition_key": "tw", "extra": {"rows": 41233}})
        assert answer.status_code == 200
        event = answer.json()
        assert (event["partition_key"], event["extra"]) == ("tw", {"rows": 41233, "from_rest_api": True})
        assert AssetEvent.objects.get(pk=event["id"]).created_by == "operator"

    def test_keeps_no_secret(self, api, orders):
        api.post(URL, {"asset_id": orders, "extra": {"password": "hunter2", "deep": {"token": "x"}}})
        kept = AssetEvent.objects.get().extra
        assert kept == {"password": "***", "deep": {"token": "***"}, "from_rest_api": True}
        assert "hunter2" not in str(list(JournalEntry.objects.values()))

    def test_without_extra_has_none(self, api, orders):
        assert api.post(URL, {"asset_id": orders}).json()["extra"] == {}

    @pytest.mark.parametrize("given", [{}, {"consumer_teams": ["a"], "allow_global": True}, None])
    def test_takes_access_control_and_ignores_it(self, api, orders, given):
        assert api.post(URL, {"asset_id": orders, "access_control": given}).status_code == 200

    def test_a_number_may_be_written_as_text(self, api, orders):
        assert api.post(URL, {"asset_id": str(orders)}).status_code == 200

    @pytest.mark.parametrize("key", ["a/b", "a b", "tw|2026-03-10T09:00:00", "{}", "%2F", "日本", "é" * 250])
    def test_keeps_the_key_byte_for_byte(self, api, orders, key):
        assert api.post(URL, {"asset_id": orders, "partition_key": key}).json()["partition_key"] == key
        assert AssetEvent.objects.get().partition_key == key

    @pytest.mark.parametrize("key", ["", " ", "x" * 251, " x", "a\tb", 5, ["x"], {}])
    def test_refuses_what_cannot_be_a_key_and_records_nothing(self, api, orders, key):
        answer = api.post(URL, {"asset_id": orders, "partition_key": key})
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["body", "partition_key"]
        assert not AssetEvent.objects.exists()

    @pytest.mark.parametrize("asset_id", [999_999, -1, 2**63 - 1])
    def test_of_no_asset_is_not_found(self, api, lab, asset_id):
        answer = api.post(URL, {"asset_id": asset_id})
        assert answer.json() == {"detail": f"The Asset with ID: `{asset_id}` was not found"}
        assert answer.status_code == 404

    def test_of_an_asset_that_is_not_defined_any_more_is_refused(self, api, lab):
        asset = lab["regional_orders"]
        asset.is_active = False
        asset.save()
        answer = api.post(URL, {"asset_id": asset.pk})
        assert answer.status_code == 409
        assert "not defined any more" in answer.json()["detail"]
        assert not AssetEvent.objects.exists()

    def test_says_at_once_what_cannot_count_it_if_asked(self, api, lab, settle):
        body = {"asset_id": lab["hourly_sales"].pk, "partition_key": "not an hour"}
        assert api.post(URL, body).json()["not_counted"] is None
        told = api.post(f"{URL}?check=true", body).json()
        assert "lab_daily_sales" in {each["dag_id"] for each in told["not_counted"]}
        assert {each["kind"] for each in told["not_counted"]} == {"failed to map partition_key"}
        settle()
        assert api.get(f"{URL}/{told['id']}").json()["not_counted"] == told["not_counted"]

    def test_checked_says_that_all_count_it(self, api, lab):
        body = {"asset_id": lab["hourly_sales"].pk, "partition_key": "2026-03-10T09:00:00"}
        assert api.post(f"{URL}?check=true", body).json()["not_counted"] == []
        assert api.post(f"{URL}?check=perhaps", body).json()["detail"][0]["loc"] == ["query", "check"]
        assert AssetEvent.objects.count() == 1

    def test_is_in_the_journal(self, api, orders):
        api.post(URL, {"asset_id": orders, "partition_key": "tw"})
        entry = JournalEntry.objects.get(event="asset event recorded")
        assert (entry.by, entry.via, entry.asset_name, entry.partition_key) == (
            "operator",
            "api",
            "regional_orders",
            "tw",
        )


class TestIdempotency:
    """201 the first time, 200 with the first event after; without a key always 200, as Airflow."""

    @pytest.mark.parametrize("by", ["header", "body"])
    def test_a_repeated_report_is_the_first_event(self, api, orders, by):
        body, headers = {"asset_id": orders, "partition_key": "tw"}, {}
        if by == "header":
            headers["HTTP_IDEMPOTENCY_KEY"] = "run 7"
        else:
            body["idempotency_key"] = "run 7"
        first, second = api.post(URL, body, **headers), api.post(URL, body, **headers)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json()["id"] == second.json()["id"]
        assert AssetEvent.objects.count() == 1

    @pytest.mark.parametrize("other", [{"partition_key": "jp"}, {"extra": {"rows": 2}}])
    @pytest.mark.parametrize("url", [URL, BULK])
    def test_of_another_report_is_refused(self, api, orders, url, other):
        body = {"asset_id": orders, "partition_key": "tw", "extra": {"rows": 1}, "idempotency_key": "run 7"}
        answers = [api.post(url, each if url == URL else [each]) for each in (body, body, body | other)]
        assert [answer.status_code for answer in answers[1:]] == [200, 422]
        assert "the idempotency key 'run 7' was used" in answers[2].json()["detail"]
        assert AssetEvent.objects.get().partition_key == "tw"

    def test_belongs_to_its_asset(self, api, lab):
        ids = {
            api.post(URL, {"asset_id": lab[name].pk, "idempotency_key": "x"}).json()["id"]
            for name in ("sales_data", "pricing_data")
        }
        assert len(ids) == 2

    def test_without_a_key_every_report_is_an_event(self, api, orders):
        assert [api.post(URL, {"asset_id": orders}).status_code for _ in "ab"] == [200, 200]
        assert AssetEvent.objects.count() == 2

    @pytest.mark.parametrize("given", ["x" * 251, "a\x07b"])
    def test_a_key_that_cannot_be_one_is_refused(self, api, orders, given):
        answer = api.post(URL, {"asset_id": orders}, HTTP_IDEMPOTENCY_KEY=given)
        assert answer.status_code == 422


class TestWhoMay:
    def test_a_viewer_may_not_report(self, api_of, orders):
        answer = api_of(roles.VIEWER).post(URL, {"asset_id": orders})
        assert (answer.status_code, answer.json()) == (403, {"detail": "Forbidden"})
        assert not AssetEvent.objects.exists()
