"""Events reported by the thousand: all are recorded or none, each error with its place."""

import json

import pytest

from core.models import AssetEvent
from partitions_site.api import bulk_events

BULK = "/api/v2/assets/events/bulk"


@pytest.fixture
def orders(lab):
    return lab["regional_orders"].pk


class TestBulk:
    def test_records_all(self, api, orders, lab):
        body = [{"asset_id": orders, "partition_key": key} for key in ("tw", "jp")]
        body.append({"asset_id": lab["sales_data"].pk, "extra": {"rows": 1}, "idempotency_key": "x"})
        answer = api.post(BULK, body)
        assert answer.status_code == 200, answer.json()
        events = AssetEvent.objects.order_by("id")
        assert answer.json() == {"created": 3, "repeated": 0, "event_ids": [event.pk for event in events]}
        assert [event.partition_key for event in events] == ["tw", "jp", None]

    def test_tells_repeated_ones(self, api, orders):
        body = [{"asset_id": orders, "partition_key": "tw", "idempotency_key": "x"}]
        first = api.post(BULK, body).json()
        again = api.post(BULK, [*body, *body]).json()
        assert again == {"created": 0, "repeated": 2, "event_ids": first["event_ids"] * 2}

    def test_takes_a_line_for_each_event(self, api, orders):
        lines = "\n".join(json.dumps({"asset_id": orders, "partition_key": key}) for key in ("tw", "jp"))
        answer = api.generic("POST", BULK, lines, content_type="application/x-ndjson")
        assert answer.json()["created"] == 2

    def test_records_none_if_one_does_not_fit(self, api, orders):
        body = [{"asset_id": orders}, {"asset_id": "x"}, {"asset_id": orders, "partition_key": " "}]
        answer = api.post(BULK, body)
        assert answer.status_code == 422
        found = [(each["loc"], each["type"]) for each in answer.json()["detail"]]
        assert found == [
            (["body", 1, "asset_id"], "int_parsing"),
            (["body", 2, "partition_key"], "string_pattern_mismatch"),
        ]
        assert not AssetEvent.objects.exists()

    def test_names_each_event_of_no_asset(self, api, orders):
        answer = api.post(BULK, [{"asset_id": orders}, {"asset_id": 999_999}])
        assert [each["loc"] for each in answer.json()["detail"]] == [["body", 1, "asset_id"]]
        assert not AssetEvent.objects.exists()

    @pytest.mark.parametrize(
        ("body", "kind"), [({"asset_id": 1}, "list_type"), ([], "too_short"), ([{}] * 10_001, "too_long")]
    )
    def test_refuses_what_is_no_list_of_events(self, api, lab, body, kind):
        answer = api.post(BULK, body)
        assert (answer.status_code, answer.json()["detail"][0]["type"]) == (422, kind)

    def test_takes_as_many_as_it_says_in_a_few_statements(self, api, orders, django_assert_max_num_queries):
        body = [{"asset_id": orders, "partition_key": f"k{at}"} for at in range(2000)]
        with django_assert_max_num_queries(60):
            assert api.post(BULK, body).json()["created"] == 2000
        assert bulk_events.MOST_EVENTS == 10_000
