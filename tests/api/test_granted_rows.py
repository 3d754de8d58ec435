"""Many things in one request, and things that belong together: given are those one has a role for."""

import json

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import AssetEvent, Dag, DagRun, JournalEntry
from partitions_site import grants, roles
from partitions_site.models import ApiToken, Grant
from tests.api.groups import MARK, OURS, THEIRS, client_of, granted
from tests.engine.world import HOURS_TO_DAY, IDENTITY, asset, consumer, dag, emit, turn

pytestmark = pytest.mark.django_db


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

    def test_nobody_waits_for_others_to_define_what_they_listen_to(self, groups):
        """It would be theirs whose keys are then learned."""
        url = f"/api/v2/dags/{OURS}_sum/schedule"
        client = client_of(granted(roles.ADMIN))
        schedule = client.get(url).json()["schedule"]
        body = {"schedule": schedule, "reason": "as before", "revision": 1}
        assert client.put(url, body).status_code == 200
        changed = json.loads(json.dumps(schedule).replace(f"{OURS}_in", "wages_of_2027"))
        body = {"schedule": changed, "reason": "curious", "revision": client.get(url).json()["revision"]}
        assert client.put(url, body).status_code == 403
        site = client_of(User.objects.create_superuser("root"))
        assert site.put(url, body).status_code == 200

    def test_problems_of_other_groups_with_our_events_are_not_shown(self, groups):
        consumer("listens", {f"{OURS}_in": HOURS_TO_DAY}, writes=[f"{MARK}_in"])
        mine = client_of(granted(roles.ADMIN))
        granted(roles.ADMIN, THEIRS, "bob")
        pk = asset(f"{OURS}_in").pk
        told = mine.post(
            "/api/v2/assets/events?check=true", {"asset_id": pk, "partition_key": "no hour"}
        ).json()
        turn(timezone.now())
        for answer in (told, mine.get(f"/api/v2/assets/events/{told['id']}").json()):
            assert answer["not_counted"] == []
        whole = client_of(User.objects.create_superuser("root"))
        [problem] = whole.get(f"/api/v2/assets/events/{told['id']}").json()["not_counted"]
        assert problem["dag_id"] == "listens"

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
