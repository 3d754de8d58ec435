"""Roles for one group of assets: every address and method, with things of one's own group and of another."""

import re

import pytest
from django.contrib.auth.models import Group, User

from core.models import Dag
from partitions_site import grants, roles
from partitions_site.api import urls
from partitions_site.api.auth import A_READ, GROUPED, OWN, SIGNED_IN, SITE, Address
from tests.api.addresses import OPEN, SHUT, addresses
from tests.api.groups import MARK, OURS, THEIRS, client_of, granted, state
from tests.engine.world import asset

pytestmark = pytest.mark.django_db
ALL = [each for each in addresses() if each[0] not in OPEN]
GROUPED_ONES = [each for each in ALL if each[1].within == GROUPED]
READS, WRITES = (
    pytest.mark.parametrize(
        ("address", "view", "method"), [each for each in GROUPED_ONES if (each[2] == "get") is reads]
    )
    for reads in (True, False)
)
PREFIX = "api/v2/"


def filled(address, things):
    """The address of things; `name` is only the name of dynamic partitions here, the rest are sensors."""
    named = things | {"name": things["partitions"]}
    path = re.sub(r"<\w+:(\w+)>", lambda match: str(named[match[1]]), address)
    query = {
        "ui/pending_partitioned_dag_run/<str:dag_id>": f"partition_key={things['key']}",
        "api/v2/backfills": "dag_id=~",
        "api/v2/dags": "dag_id_pattern=~",
        "api/v2/heldRuns": "keys=true",
    }.get(address, f"partition_key={things['key']}" if "delete" in things else "")
    return f"/{path}?{query}"


def body_of(address, method, things):
    """A body that would do something, so that nothing else is wrong with the request."""
    dag_id, of_asset = things["dag_id"], {"asset_id": things["asset_id"], "partition_key": "k"}
    entity = {"dag_id": dag_id, "dag_run_id": things["run_id"], "note": "n"}
    return {
        ("assets/events", "post"): of_asset,
        ("assets/events/bulk", "post"): [of_asset],
        ("backfills", "post"): {"dag_id": dag_id, "partition_keys": ["c"]},
        ("backfills/dry_run", "post"): {"dag_id": dag_id, "partition_keys": ["c"]},
        ("backfills/<str:backfill_id>", "patch"): {"max_active_runs": 3},
        ("dags", "patch"): {"is_paused": True},
        ("dags/<str:dag_id>", "patch"): {"is_paused": True},
        ("dags/<str:dag_id>/schedule", "put"): {"schedule": None, "reason": "r", "revision": 1},
        ("dags/<str:dag_id>/clearDagRuns", "post"): {"partition_key": things["key"], "dry_run": False},
        ("dags/<str:dag_id>/clearPartitions", "post"): {"partition_key": things["key"], "dry_run": False},
        ("dags/<str:dag_id>/dagRuns", "patch"): {"actions": [{"action": "update", "entities": [entity]}]},
        ("dags/<str:dag_id>/dagRuns", "post"): {"partition_key": "c"},
        ("dags/<str:dag_id>/dagRuns/<str:run_id>", "patch"): {"note": "n"},
        ("dags/<str:dag_id>/dagRuns/<str:run_id>/clear", "post"): {"dry_run": False},
        ("assets/<str:asset_id>/materialize", "post"): {"partition_key": "c"},
        ("runs/claim", "post"): {"worker": "w", "dag_ids": [dag_id]},
        ("runs/<str:run_pk>/heartbeat", "post"): {"worker": "w", "attempt": 1},
        ("runs/<str:run_pk>/finish", "post"): {"worker": "w", "attempt": 1, "state": "success"},
        ("partitionsDefinitions/<str:name>/keys", "post"): {"partition_keys": ["c"]},
    }.get((address.removeprefix(PREFIX), method), {})


def ask(client, address, method, things):
    if method == "delete":
        things = things | {"delete": True}
    return getattr(client, method)(filled(address, things), body_of(address, method, things))


LISTS = {
    ("assets/events/bulk", "post"): 422,
    ("dags", "patch"): 200,
    ("dags/<str:dag_id>/dagRuns", "patch"): 200,
    ("runs/claim", "post"): 200,
}
"""What is answered to a write about things of another group where it is no 404: nothing was done."""


class TestEveryAddress:
    @pytest.mark.parametrize(("address", "view", "method"), ALL)
    def test_says_what_it_is_about(self, address, view, method):
        assert view.within in (GROUPED, OWN, SITE)

    @pytest.mark.parametrize(("address", "view", "method"), [each for each in ALL if each[1].within == SITE])
    def test_of_the_site_is_shut(self, groups, address, view, method):
        client = client_of(granted(roles.ADMIN))
        answer = getattr(client, method)("/" + re.sub(r"<\w+:\w+>", f"{MARK}_sensor", address), {})
        assert answer.status_code == 403
        assert MARK not in answer.content.decode()

    @READS
    def test_shows_nothing_of_another_group(self, groups, address, view, method):
        answer = ask(client_of(granted(roles.ADMIN)), address, method, groups[THEIRS])
        if "<" in address:
            assert answer.status_code == 404
        else:
            assert answer.status_code == 200
            assert MARK not in answer.content.decode()

    @READS
    def test_shows_what_is_of_ours(self, groups, address, view, method):
        answer = ask(client_of(granted(roles.VIEWER)), address, method, groups[OURS])
        missing = address.endswith("queuedEvents") or "pending" in address
        assert answer.status_code in ((200, 404) if missing else (200,))
        text = "" if answer.streaming else answer.content.decode()
        assert MARK not in text

    @WRITES
    def test_does_nothing_to_another_group(self, groups, address, view, method):
        before = state()
        answer = ask(client_of(granted(roles.ADMIN)), address, method, groups[THEIRS])
        if view.needs[method.upper()] == A_READ and "<" not in address:
            assert MARK not in answer.content.decode()
        else:
            wanted = LISTS.get((address.removeprefix(PREFIX), method), 404)
            assert (answer.status_code, answer.content.decode()) == (wanted, answer.content.decode())
            self.changed(groups, before)

    def changed(self, groups, before):
        after = state()
        their_pks = list(Dag.objects.filter(dag_id__startswith=MARK).values_list("is_paused", flat=True))
        assert not any(their_pks)
        assert after[1:5] == before[1:5]

    @pytest.mark.parametrize("role", list(roles.GRANTS))
    @WRITES
    def test_lets_in_who_may_there_and_nobody_else(self, groups, address, view, method, role):
        needed = view.needs[method.upper()]
        holds = Group.objects.get(name=role).permissions.values_list("codename", flat=True)
        may = needed in (A_READ, SIGNED_IN) or needed.removeprefix("core.") in set(holds)
        answer = ask(client_of(granted(role)), address, method, groups[OURS])
        assert (answer.status_code == 403) == (not may), answer.content.decode()

    def test_one_that_nobody_thought_of_is_shut(self, groups, rf):
        from rest_framework.response import Response
        from rest_framework.test import APIRequestFactory, force_authenticate

        class Forgotten(Address):
            def get(self, request):
                return Response("everything")

        for user, status in ((granted(roles.ADMIN), 403), (User.objects.create(username="bob"), 200)):
            request = APIRequestFactory().get("/forgotten")
            force_authenticate(request, user)
            assert Forgotten.as_view()(request).status_code == status

    def test_those_that_are_shut_stay_shut(self):
        assert {address for address, view, _ in ALL if view.within == OWN} >= SHUT
        assert len(GROUPED_ONES) > 50
        assert len(urls.urlpatterns) > 50


class TestCost:
    def test_whoever_has_no_grants_pays_for_none(self, groups, user_of, django_assert_num_queries):
        user_of(roles.OPERATOR)
        user, ours = User.objects.get(username=roles.OPERATOR), asset(f"{OURS}_in")
        with django_assert_num_queries(1):
            assert user.has_perm("core.add_assetevent", ours)
            assert grants.reach_of(user).sight.sees(ours)
