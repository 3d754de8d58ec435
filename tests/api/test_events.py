"""Events come in by the API: one, or thousands; and are read back."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import AssetEvent, JournalEntry
from partitions_site import roles
from partitions_site.api import bulk_events
from tests.engine.world import consumer

URL, BULK = "/api/v2/assets/events", "/api/v2/assets/events/bulk"


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


class TestWhoMay:
    def test_a_viewer_may_not_report(self, api_of, orders):
        answer = api_of(roles.VIEWER).post(URL, {"asset_id": orders})
        assert (answer.status_code, answer.json()) == (403, {"detail": "Forbidden"})
        assert not AssetEvent.objects.exists()
