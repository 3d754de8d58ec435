"""The journal as an audit log."""

import base64
import json

import pytest
from django.utils import timezone

from core.models import Asset, Dag, JournalEntry
from scheduling import journal
from scheduling.journal import Deed

URL = "/api/v2/eventLogs"


@pytest.fixture
def told(api, lab):
    """A few deeds of two people and of the engine."""
    JournalEntry.objects.all().delete()
    at = timezone.now()
    dag = Dag.objects.get(dag_id="lab_plain")
    asset = Asset.objects.get(name="plain_asset")
    journal.note("asset event recorded", deed=Deed("alice", "api"), at=at, about=asset, key="tw")
    journal.note("dag paused", deed=Deed("bob", "web", "too loud"), at=at, about=dag)
    journal.note("failed to map partition_key", at=at, about=dag, key="x", sentence="'x' is no date")
    journal.note("run triggered", deed=Deed("alice", "cli"), at=at, about=dag, token="hunter2")
    return api


def events(answer):
    return [each["event"] for each in answer.json()["event_logs"]]


class TestList:
    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("", ["create_asset_event", "patch_dag", "failed to map partition_key", "trigger_dag_run"]),
            ("order_by=-when&limit=1", ["trigger_dag_run"]),
            ("event=create_asset_event", ["create_asset_event"]),
            ("event=dag paused", ["patch_dag"]),
            ("included_events=patch_dag&included_events=trigger_dag_run", ["patch_dag", "trigger_dag_run"]),
            ("excluded_events=patch_dag&owner=bob", []),
            ("owner=alice", ["create_asset_event", "trigger_dag_run"]),
            ("owner_pattern=BO", ["patch_dag"]),
            ("dag_id=lab_plain&order_by=-event_log_id&limit=1", ["trigger_dag_run"]),
            ("dag_id_pattern=nope", []),
            ("event_pattern=map", ["failed to map partition_key"]),
            ("run_id=x", []),
            ("task_id=x", []),
            ("task_id_pattern=x", []),
            ("task_id_pattern=~&limit=1", ["create_asset_event"]),
            ("task_id_pattern=x|~&limit=1", ["create_asset_event"]),
            ("task_id_pattern=%", []),
            ("task_id_prefix_pattern=x|y", []),
            ("task_id_prefix_pattern=~&limit=1", ["create_asset_event"]),
            ("before=2020-01-01", []),
            ("after=2020-01-01&limit=1", ["create_asset_event"]),
        ],
    )
    def test_is_narrowed_and_ordered(self, told, query, found):
        assert events(told.get(f"{URL}?{query}")) == found

    def test_tells_nothing_of_a_secret_by_where_it_stands(self, told):
        """What may name one stands with what says nothing, and no cursor has it."""
        page = told.get(f"{URL}?order_by=-extra&cursor=&limit=1").json()
        assert "hunter2" not in base64.urlsafe_b64decode(page["next_cursor"] + "===").decode()
        assert events(told.get(f"{URL}?order_by=extra&limit=1")) == ["trigger_dag_run"]

    def test_says_who_and_in_what_words(self, told):
        first, second, third, fourth = told.get(URL).json()["event_logs"]
        assert (first["owner"], third["owner"]) == ("alice", None)
        assert json.loads(first["extra"]) == {
            "deed": "asset event recorded",
            "asset": "plain_asset",
            "partition_key": "tw",
            "via": "api",
        }
        assert json.loads(second["extra"])["reason"] == "too loud"
        assert third["extra"] == "'x' is no date"
        assert third["dag_id"] == "lab_plain"
        assert json.loads(fourth["extra"])["token"] == "***"


class TestOne:
    def test_is_found_by_its_number(self, told):
        pk = JournalEntry.objects.order_by("id").first().pk
        assert told.get(f"{URL}/{pk}").json()["event_log_id"] == pk

    @pytest.mark.parametrize(("event_log_id", "status"), [("999999", 404), ("x", 422)])
    def test_another_is_not_found(self, told, event_log_id, status):
        assert told.get(f"{URL}/{event_log_id}").status_code == status
