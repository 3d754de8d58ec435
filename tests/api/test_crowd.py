"""Several at once: what must happen once happens once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import AssetEvent, DagRun, HeldRun
from partitions_site import roles
from scheduling import holds

pytestmark = pytest.mark.django_db(transaction=True)

CROWD = 6


@pytest.fixture
def all_at_once(user_of):
    """Has a crowd do the same at the same moment, each with a connection of its own; gives their answers."""
    user = user_of(roles.OPERATOR)

    def all_at_once(deed):
        ready = Barrier(CROWD)

        def one(number):
            client = APIClient()
            client.force_authenticate(user)
            ready.wait(timeout=20)
            try:
                return deed(client, number)
            finally:
                connection.close()

        with ThreadPoolExecutor(CROWD) as pool:
            return list(pool.map(one, range(CROWD)))

    return all_at_once


def test_one_report_is_the_first(lab, all_at_once):
    body = {"asset_id": lab["plain_asset"].pk, "idempotency_key": "run 7"}
    answers = all_at_once(lambda client, number: client.post("/api/v2/assets/events", body))
    assert sorted(answer.status_code for answer in answers) == [200] * (CROWD - 1) + [201]
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert AssetEvent.objects.count() == 1


def test_overlapping_bulks_record_each_event_once(lab, all_at_once):
    pk = lab["plain_asset"].pk

    def report(client, number):
        body = [{"asset_id": pk, "idempotency_key": f"e{at}"} for at in range(number, number + 10)]
        return client.post("/api/v2/assets/events/bulk", body).json()

    answers = all_at_once(report)
    assert AssetEvent.objects.count() == CROWD + 9
    assert sum(answer["created"] for answer in answers) == CROWD + 9
    assert all(answer["created"] + answer["repeated"] == 10 for answer in answers)


def test_a_run_id_is_given_once(lab, all_at_once):
    url, body = "/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "mine"}
    answers = all_at_once(lambda client, number: client.post(url, body))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (CROWD - 1)
    assert DagRun.objects.count() == 1


def test_a_held_run_ends_once(lab, all_at_once, api, settle):
    api.post("/api/v2/assets/events", {"asset_id": lab["regional_orders"].pk, "partition_key": "tw"})
    settle()
    url = f"/api/v2/heldRuns/{HeldRun.objects.get().pk}"
    ends = ["fire", "cancel"]
    answers = all_at_once(lambda client, number: client.post(f"{url}/{ends[number % 2]}"))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * (CROWD - 1)
    assert DagRun.objects.count() == (HeldRun.objects.get().state == "fired")


def test_the_last_slice_fires_it_once_however_many_report_it(lab, all_at_once):
    pk = lab["regional_orders"].pk
    keys = ["tw", "jp", "us"]

    def report(client, number):
        for key in keys[number % 3 :] + keys[: number % 3]:
            body = {"asset_id": pk, "partition_key": key, "idempotency_key": key}
            assert client.post("/api/v2/assets/events", body).status_code in (200, 201)
        while holds.route_pending(now=timezone.now()) or holds.judge_due(now=timezone.now()):
            pass

    all_at_once(report)
    while holds.route_pending(now=timezone.now()) or holds.judge_due(now=timezone.now()):
        pass
    assert AssetEvent.objects.count() == 3
    assert DagRun.objects.count() == 1
    assert HeldRun.objects.get(dag__dag_id="lab_region_rollup").state == "fired"
