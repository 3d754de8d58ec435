"""Events that several report at the same moment are recorded together, each with its own answer."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import Asset, AssetEvent, JournalEntry, Partition
from partitions_site import roles
from partitions_site.api import events
from partitions_site.together import Together
from scheduling.events import EventReport
from scheduling.journal import Deed
from tests.waiting import wait_for

SECONDS = 10


@pytest.fixture
def at_once(user_of, monkeypatch):
    """Has several report at the same moment: all but the first are recorded together.

    Gives their answers, and how many were recorded at a time. `meanwhile` happens before the second time.
    """
    user, recorded = user_of(roles.OPERATOR), events.RECORD._work

    def at_once(*bodies, meanwhile=lambda: None):
        portions = []

        def record(asked):
            portions.append(len(asked))
            if len(portions) == 1:
                wait_for(lambda: len(desk._waiting) == len(bodies) - 1)
            elif len(portions) == 2:
                meanwhile()
            return recorded(asked)

        def one(body):
            client = APIClient(raise_request_exception=False)
            client.force_authenticate(user)
            try:
                return client.post("/api/v2/assets/events", body)
            finally:
                connection.close()

        desk = Together(record)
        monkeypatch.setattr(events, "RECORD", desk)
        with ThreadPoolExecutor(len(bodies)) as pool:
            first = pool.submit(one, bodies[0])
            wait_for(lambda: portions)
            rest = [pool.submit(one, body) for body in bodies[1:]]
            return [each.result(SECONDS) for each in (first, *rest)], portions

    return at_once


@pytest.mark.django_db(transaction=True)
class TestEventsOfOneMoment:
    def test_each_has_its_own_answer_and_entry(self, lab, at_once):
        pk, keys = lab["regional_orders"].pk, ["tw", "jp", "us", "tw"]
        answers, portions = at_once(
            *({"asset_id": pk, "partition_key": key, "extra": {"n": n}} for n, key in enumerate(keys))
        )
        assert portions == [1, 3]
        assert [answer.json()["partition_key"] for answer in answers] == keys
        kept = AssetEvent.objects.in_bulk([answer.json()["id"] for answer in answers])
        assert [kept[answer.json()["id"]].extra["n"] for answer in answers] == [0, 1, 2, 3]
        entries = JournalEntry.objects.filter(event="asset event recorded")
        assert sorted(entries.values_list("partition_key", "by")) == sorted((k, "operator") for k in keys)
        last = max(pk for pk, event in kept.items() if event.partition_key == "tw")
        assert Partition.objects.get(key="tw").last_event_id == last

    def test_one_idempotency_key_among_them_is_one_event(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, portions = at_once(body | {"idempotency_key": "run 6"}, body, body, body)
        assert portions == [1, 3]
        assert sorted(answer.status_code for answer in answers[1:]) == [200, 200, 201]
        assert len({answer.json()["id"] for answer in answers[1:]}) == 1
        assert JournalEntry.objects.filter(event="asset event recorded").count() == 2

    def test_one_that_says_another_thing_is_refused_alone(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, _ = at_once(body, body | {"partition_key": "k"}, body | {"idempotency_key": "run 8"})
        assert [answer.status_code for answer in answers] == [201, 422, 201]

    def test_one_that_another_process_records_meanwhile_is_found(self, lab, at_once):
        body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
        answers, portions = at_once(
            body | {"idempotency_key": "run 6"},
            body,
            {"asset_id": lab["plain_asset"].pk, "partition_key": "k"},
            meanwhile=lambda: events.register_each(
                [(EventReport(lab["plain_asset"], idempotency_key="run 7"), Deed("other", "api"))],
                source=AssetEvent.Source.API,
                at=timezone.now(),
            ),
        )
        assert (portions, [answer.status_code for answer in answers]) == ([1, 2], [201, 200, 200])
        assert AssetEvent.objects.get(idempotency_key="run 7").created_by == "other"
        assert AssetEvent.objects.count() == 3

    def test_one_that_cannot_be_recorded_fails_alone(self, lab, at_once):
        """Its asset is gone since it was looked up, which only the commit tells."""
        now = timezone.now()
        gone = Asset.objects.create(name="gone", uri="gone", created_at=now, updated_at=now)
        pk = lab["plain_asset"].pk
        answers, portions = at_once(
            {"asset_id": pk, "partition_key": "a"},
            {"asset_id": pk, "partition_key": "b"},
            {"asset_id": gone.pk, "partition_key": "c"},
            {"asset_id": pk, "partition_key": "d"},
            meanwhile=gone.delete,
        )
        assert portions == [1, 3, 1, 1, 1]
        assert [answer.status_code for answer in answers] == [200, 200, 500, 200]
        assert sorted(AssetEvent.objects.values_list("partition_key", flat=True)) == ["a", "b", "d"]
        assert JournalEntry.objects.filter(event="asset event recorded").count() == 3
