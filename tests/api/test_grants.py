"""Roles for one group of assets: every address and method, with things of one's own group and of another."""

import json
import re

import pytest
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from core.models import AssetEvent, Dag, DagRun, JournalEntry
from partitions_site import grants, roles
from partitions_site.api import urls
from partitions_site.api.auth import A_READ, GROUPED, OWN, SIGNED_IN, SITE, Address
from partitions_site.models import ApiToken, Grant
from tests.api.groups import MARK, OURS, THEIRS, build, granted, state
from tests.api.test_rights import OPEN, SHUT, addresses
from tests.engine.world import IDENTITY, asset, consumer, dag, emit

pytestmark = pytest.mark.django_db

ALL = [each for each in addresses() if each[0] not in OPEN]
GROUPED_ONES = [each for each in ALL if each[1].within == GROUPED]
PREFIX = "api/v2/"


@pytest.fixture
def groups(db):
    return {OURS: build(OURS), THEIRS: build(MARK)}


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client


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

    @pytest.mark.parametrize(
        ("address", "view", "method"), [each for each in GROUPED_ONES if each[2] == "get"]
    )
    def test_shows_nothing_of_another_group(self, groups, address, view, method):
        answer = ask(client_of(granted(roles.ADMIN)), address, method, groups[THEIRS])
        if "<" in address:
            assert answer.status_code == 404
        else:
            assert answer.status_code == 200
            assert MARK not in answer.content.decode()

    @pytest.mark.parametrize(
        ("address", "view", "method"), [each for each in GROUPED_ONES if each[2] == "get"]
    )
    def test_shows_what_is_of_ours(self, groups, address, view, method):
        answer = ask(client_of(granted(roles.VIEWER)), address, method, groups[OURS])
        missing = address.endswith("queuedEvents") or "pending" in address
        assert answer.status_code in ((200, 404) if missing else (200,))
        text = "" if answer.streaming else answer.content.decode()
        assert MARK not in text

    @pytest.mark.parametrize(
        ("address", "view", "method"), [each for each in GROUPED_ONES if each[2] != "get"]
    )
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
    @pytest.mark.parametrize(
        ("address", "view", "method"), [each for each in GROUPED_ONES if each[2] != "get"]
    )
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


class TestRowsOfOneRequest:
    def test_events_in_bulk_are_refused_one_by_one(self, groups):
        rows = [{"asset_id": groups[mark]["asset_id"], "partition_key": "k"} for mark in (OURS, THEIRS)]
        answer = client_of(granted(roles.OPERATOR)).post("/api/v2/assets/events/bulk", rows)
        assert [problem["loc"] for problem in answer.json()["detail"]] == [["body", 1, "asset_id"]]
        assert answer.json()["detail"][0]["type"] == "not_found"
        granted(roles.VIEWER, THEIRS)
        answer = client_of(granted(roles.OPERATOR)).post("/api/v2/assets/events/bulk", rows)
        assert [each["type"] for each in answer.json()["detail"]] == ["forbidden"]
        assert not AssetEvent.objects.filter(partition_key="k").exists()

    def test_runs_have_an_outcome_each(self, groups):
        granted(roles.VIEWER, THEIRS)
        client = client_of(granted(roles.EDITOR))
        entities = [
            {"dag_id": groups[mark]["dag_id"], "dag_run_id": groups[mark]["run_id"]}
            for mark in (OURS, THEIRS)
        ]
        body = {"actions": [{"action": "delete", "entities": entities}]}
        told = client.patch("/api/v2/dags/~/dagRuns", body).json()["delete"]
        assert told["success"] == [f"{OURS}_plain.{OURS}_run"]
        assert [each["status_code"] for each in told["errors"]] == [403]
        assert not DagRun.objects.filter(run_id=f"{OURS}_run").exists()

    def test_dags_are_paused_that_are_theirs(self, groups):
        granted(roles.VIEWER, THEIRS)
        client = client_of(granted(roles.OPERATOR))
        told = client.patch("/api/v2/dags?dag_id_pattern=~", {"is_paused": True}).json()
        assert {each["dag_id"] for each in told["dags"]} == {
            f"{OURS}_{end}" for end in ("sum", "end", "plain")
        }
        assert Dag.objects.filter(is_paused=True).count() == 3

    def test_runs_are_claimed_that_are_theirs(self, groups):
        taken = client_of(granted(roles.OPERATOR)).post("/api/v2/runs/claim", {"worker": "w", "limit": 100})
        assert {each["dag_id"] for each in taken.json()["runs"]} == {f"{OURS}_plain"}

    @pytest.mark.parametrize("way", ["with_upstream", "with_downstream"])
    def test_a_backfill_takes_nobody_elses_dags_along(self, groups, way):
        consumer("between", {f"{OURS}_out": IDENTITY}, writes=[f"{MARK}_in"])
        body = {"dag_id": f"{OURS}_plain", "partition_keys": ["c"], way: True}
        for url in ("/api/v2/backfills/dry_run", "/api/v2/backfills"):
            status = client_of(granted(roles.OPERATOR)).post(url, body).status_code
            assert status == (403 if way == "with_downstream" else 200)


class TestWhatBelongsTogether:
    """A Dag belongs to the groups of what it writes; one is enough to look, all are needed to act."""

    @pytest.fixture
    def shared(self, groups):
        return dag("shared", {"type": "PartitionedAtRuntime"}, writes=[f"{OURS}_out", f"{MARK}_out"])

    def test_to_act_on_a_dag_of_two_groups_takes_a_role_for_both(self, shared):
        client = client_of(granted(roles.OPERATOR))
        url, body = "/api/v2/dags/shared/dagRuns", {"partition_key": "x"}
        assert client.get("/api/v2/dags/shared").status_code == 200
        assert client.post(url, body).status_code == 403
        granted(roles.VIEWER, THEIRS)
        assert client_of(granted(roles.OPERATOR)).post(url, body).status_code == 403
        granted(roles.OPERATOR, THEIRS)
        assert client_of(granted(roles.OPERATOR)).post(url, body).status_code == 200

    def test_whoever_listens_to_us_is_not_shown_to_us_nor_we_to_them(self, groups):
        consumer("listens", {f"{OURS}_out": IDENTITY}, writes=[f"{MARK}_in"])
        ours, theirs = client_of(granted(roles.ADMIN)), client_of(granted(roles.ADMIN, THEIRS, "bob"))
        assert ours.get("/api/v2/dags/listens").status_code == 404
        [told] = ours.get("/api/v2/assets?name_pattern=ours_out").json()["assets"]
        assert "listens" not in {each["dag_id"] for each in told["scheduled_dags"]}
        assert theirs.get("/api/v2/dags/listens").status_code == 200
        assert theirs.get(f"/api/v2/assets/{groups[OURS]['asset_id']}").status_code == 404

    def test_what_a_dag_of_ours_waits_for_is_named_whosever_it_is(self, groups):
        both = {f"{OURS}_in": IDENTITY, f"{MARK}_out": IDENTITY}
        consumer("waits", both, writes=[f"{OURS}_out"])
        told = client_of(granted(roles.VIEWER)).get("/api/v2/dags/waits/explain?partition_key=k").json()
        assert {fact["asset_name"] for fact in told["facts"]} == {f"{OURS}_in", f"{MARK}_out"}

    def test_events_of_others_that_a_run_consumed_are_not_shown(self, groups, settle):
        consumer("copy", {f"{MARK}_out": IDENTITY}, writes=[f"{OURS}_out"])
        emit(f"{MARK}_out", "secret")
        settle()
        run = DagRun.objects.get(dag__dag_id="copy")
        url = f"/api/v2/dags/copy/dagRuns/{run.run_id}"
        client = client_of(granted(roles.VIEWER))
        assert client.get(url).status_code == 200
        assert client.get(f"{url}/upstreamAssetEvents").json()["asset_events"] == []

    def test_a_dag_without_assets_is_the_sites(self, groups):
        dag("alone")
        assert client_of(granted(roles.ADMIN)).get("/api/v2/dags/alone").status_code == 404

    def test_nobody_listens_to_others_to_learn_their_keys(self, groups):
        url = f"/api/v2/dags/{OURS}_sum/schedule"
        client = client_of(granted(roles.ADMIN))
        schedule = json.loads(
            json.dumps(client.get(url).json()["schedule"]).replace(f"{OURS}_in", f"{MARK}_out")
        )
        body = {"schedule": schedule, "reason": "curious", "revision": 1}
        assert client.put(url, body).status_code == 403
        asked = {"schedule": schedule}
        assert client.post(f"/api/v2/dags/{OURS}_sum/mapping/preview", asked).status_code == 403
        granted(roles.VIEWER, THEIRS)
        assert client_of(granted(roles.ADMIN)).put(url, body).status_code == 200


class TestWho:
    def test_without_grants_everything_is_as_it_was(self, groups, api_of):
        for who in (api_of(roles.VIEWER), client_of(User.objects.create(username="nobody"))):
            assert MARK in who.get("/api/v2/dags").content.decode()

    def test_a_role_of_the_site_goes_on_beside_grants(self, groups, user_of):
        user = user_of(roles.VIEWER)
        granted(roles.OPERATOR, OURS, user.username)
        client = client_of(User.objects.get(pk=user.pk))
        assert MARK in client.get("/api/v2/dags").content.decode()
        for mark, status in ((OURS, 200), (MARK, 403)):
            body = {"partition_key": "x"}
            assert client.post(f"/api/v2/dags/{mark}_plain/dagRuns", body).status_code == status

    def test_a_team_has_what_it_was_granted_as_long_as_one_is_in_it(self, groups):
        team, user = Group.objects.create(name="analysts"), User.objects.create(username="eve")
        Grant.objects.create(team=team, asset_group=OURS, role=roles.VIEWER)
        user.groups.add(team)
        assert MARK not in client_of(User.objects.get(pk=user.pk)).get("/api/v2/dags").content.decode()
        user.groups.clear()
        assert MARK in client_of(User.objects.get(pk=user.pk)).get("/api/v2/dags").content.decode()

    def test_a_token_is_for_no_more_than_its_owner_may(self, groups):
        client = APIClient()
        _, token = ApiToken.objects.create(user=granted(roles.VIEWER), expiry=None)
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        assert MARK not in client.get("/api/v2/dags").content.decode()
        body = {"asset_id": groups[OURS]["asset_id"]}
        assert client.post("/api/v2/assets/events", body).status_code == 403
        granted(roles.OPERATOR)
        assert client.post("/api/v2/assets/events", body).status_code == 200

    def test_rights_that_an_installation_adds_to_a_role_are_granted_with_it(self, groups):
        from django.contrib.auth.models import Permission

        extra = Permission.objects.get(codename="add_assetevent")
        Group.objects.get(name=roles.VIEWER).permissions.add(extra)
        body = {"asset_id": groups[OURS]["asset_id"]}
        assert client_of(granted(roles.VIEWER)).post("/api/v2/assets/events", body).status_code == 200

    def test_users_and_tokens_of_others_are_in_no_group(self, groups):
        user = granted(roles.ADMIN)
        assert not grants.may_somewhere(user, "auth.change_user")
        assert not grants.may_somewhere(user, "partitions_site.add_grant")

    def test_entries_of_the_journal_about_neither_are_the_sites(self, groups):
        JournalEntry.objects.create(at=DagRun.objects.first().queued_at, by="x", event="token made")
        told = client_of(granted(roles.ADMIN)).get("/api/v2/eventLogs?limit=100").json()["event_logs"]
        assert told
        assert "token made" not in {each["event"] for each in told}


class TestCost:
    def test_whoever_has_no_grants_pays_for_none(self, groups, user_of, django_assert_num_queries):
        user_of(roles.OPERATOR)
        user, ours = User.objects.get(username=roles.OPERATOR), asset(f"{OURS}_in")
        with django_assert_num_queries(1):
            assert user.has_perm("core.add_assetevent", ours)
            assert grants.reach_of(user).sight.sees(ours)
