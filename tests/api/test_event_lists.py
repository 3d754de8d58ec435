"""Events are read back: narrowed, ordered, with what they made and who could not count them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tests.engine.world import consumer

URL = "/api/v2/assets/events"


class TestList:
    @pytest.fixture
    def events(self, api, lab):
        for name, key in (("regional_orders", "tw"), ("regional_orders", "jp"), ("sales_data", None)):
            api.post(URL, {"asset_id": lab[name].pk, "partition_key": key})

    @pytest.mark.parametrize(
        ("query", "keys"),
        [
            ("", ["tw", "jp", None]),
            ("order_by=-timestamp", [None, "jp", "tw"]),
            ("name_pattern=SALES", [None]),
            ("name_prefix_pattern=regional", ["tw", "jp"]),
            ("partition_key=tw", ["tw"]),
            ("partition_key_pattern=_p", ["jp"]),
            ("partition_key_prefix_pattern=t", ["tw"]),
            ("source_dag_id=lab_plain", []),
            ("limit=1&offset=1", ["jp"]),
            ("unknown=1", ["tw", "jp", None]),
        ],
    )
    def test_is_narrowed_and_ordered(self, api, events, query, keys):
        found = api.get(f"{URL}?{query}").json()
        assert [event["partition_key"] for event in found["asset_events"]] == keys

    def test_by_asset(self, api, lab, events):
        found = api.get(f"{URL}?asset_id={lab['sales_data'].pk}").json()
        assert found["total_entries"] == 1

    def test_by_time(self, api, events):
        later = (timezone.now() + timedelta(hours=1)).isoformat().replace("+", "%2B")
        assert api.get(f"{URL}?timestamp_gte={later}").json()["total_entries"] == 0
        assert api.get(f"{URL}?timestamp_lt={later}").json()["total_entries"] == 3

    def test_names_the_runs_that_an_event_made_and_the_one_it_triggered(self, api, lab, settle):
        for key in ("tw", "jp", "us"):
            api.post(URL, {"asset_id": lab["regional_orders"].pk, "partition_key": key})
        settle()
        found = api.get(f"{URL}?order_by=id").json()["asset_events"]
        runs = [event["created_dagruns"] for event in found]
        assert [len(each) for each in runs] == [1, 1, 1]
        assert [each[0]["triggering"] for each in runs] == [False, False, True]
        assert runs[0][0]["partition_key"] == "all_regions"

    def test_names_the_dags_that_could_not_count_an_event(self, api, lab, settle):
        for name, key in (("hourly_sales", "not an hour"), ("hourly_sales", None), ("regional_orders", "tw")):
            api.post(URL, {"asset_id": lab[name].pk, "partition_key": key})
        assert [each["not_counted"] for each in api.get(URL).json()["asset_events"]] == [None] * 3
        settle()
        bad, keyless, good = api.get(URL).json()["asset_events"]
        [problem] = [each for each in bad["not_counted"] if each["dag_id"] == "lab_daily_sales"]
        assert problem["kind"] == "failed to map partition_key"
        assert "'not an hour' is not a key of the form" in problem["sentence"]
        assert {each["kind"] for each in keyless["not_counted"]} == {"missing partition key"}
        assert good["not_counted"] == []
        for query, keys in (("true", ["not an hour", None]), ("false", ["tw"])):
            found = api.get(f"{URL}?not_counted={query}").json()["asset_events"]
            assert [each["partition_key"] for each in found] == keys

    def test_says_that_a_key_maps_to_too_many(self, api, lab, settle):
        month = {"type": "StartOfMonthMapper", "input_format": "%Y-%m"}
        days = {"type": "FanOutMapper", "upstream_mapper": month, "window": {"type": "MonthWindow"}}
        consumer("each_day", {"plain_asset": days | {"max_downstream_keys": 3}})
        body = {"asset_id": lab["plain_asset"].pk, "partition_key": "2026-03"}
        told = api.post(f"{URL}?check=true", body).json()
        settle()
        for answer in (told, api.get(f"{URL}/{told['id']}").json()):
            [problem] = [each for each in answer["not_counted"] if each["dag_id"] == "each_day"]
            assert problem["kind"] == "partition fan-out exceeded"
            assert "31 downstream keys, over the limit of 3" in problem["sentence"]

    def test_needs_the_same_queries_for_many_as_for_one(self, api, lab, settle, django_assert_num_queries):
        for key in ("tw", "jp", "us"):
            api.post(URL, {"asset_id": lab["regional_orders"].pk, "partition_key": key})
        settle()
        with django_assert_num_queries(6):
            api.get(f"{URL}?limit=1")
        with django_assert_num_queries(5):
            api.get(f"{URL}?limit=100")
