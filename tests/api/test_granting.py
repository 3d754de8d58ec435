"""Grants over the API: who gives, takes and sees them, and what they do at once."""

import pytest
from django.contrib.auth.models import Group, User
from rest_framework.test import APIClient

from core.models import JournalEntry
from partitions_site import roles
from partitions_site.models import ApiToken, Grant
from tests.engine.world import asset

pytestmark = pytest.mark.django_db

URL = "/api/v2/grants"


@pytest.fixture
def admin(api_of):
    asset("orders", group="sales")
    asset("wages", group="staff")
    return api_of(roles.ADMIN)


@pytest.fixture
def ann(db):
    return User.objects.create(username="ann")


def client_of(user):
    client = APIClient()
    client.force_authenticate(User.objects.get(pk=user.pk))
    return client


def give(client, **said):
    return client.post(URL, {"role": "operator", "asset_group": "sales"} | said)


class TestGiving:
    def test_holds_with_the_next_request(self, admin, ann):
        answer = give(admin, user="ann")
        assert answer.status_code == 201
        told = {"user": "ann", "team": None, "role": "operator", "asset_group": "sales"}
        assert answer.json() == told | {"id": Grant.objects.get().pk}
        names = [each["name"] for each in client_of(ann).get("/api/v2/assets").json()["assets"]]
        assert names == ["orders"]

    def test_to_a_team_is_for_whoever_is_in_it(self, admin, ann):
        team = Group.objects.create(name="analysts")
        assert give(admin, team="analysts", role="viewer").json()["team"] == "analysts"
        assert client_of(ann).get("/api/v2/assets").json()["total_entries"] == 2
        ann.groups.add(team)
        assert client_of(ann).get("/api/v2/assets").json()["total_entries"] == 1

    def test_twice_is_once(self, admin, ann):
        first = give(admin, user="ann").json()
        again = give(admin, user="ann")
        assert (again.status_code, again.json()) == (200, first)
        assert JournalEntry.objects.filter(event="grant given").count() == 1

    def test_is_in_the_journal(self, admin, ann):
        give(admin, user="ann")
        entry = JournalEntry.objects.get(event="grant given")
        assert (entry.by, entry.via) == ("admin", "api")
        assert entry.extra == {"to": "ann", "role": "operator", "asset_group": "sales"}
        assert entry.request_id

    @pytest.mark.parametrize(
        ("said", "loc", "words"),
        [
            ({}, ["body"], "Name a `user` or a `team`, and not both"),
            ({"user": "ann", "team": "viewer"}, ["body"], "Name a `user` or a `team`, and not both"),
            ({"user": "nobody"}, ["body", "user"], "No user is called `nobody`"),
            ({"team": "nobody"}, ["body", "team"], "No team is called `nobody`"),
            ({"user": "ann", "role": "owner"}, ["body", "role"], "or 'admin'"),
            ({"user": "ann", "more": 1}, ["body", "more"], "Extra inputs are not permitted"),
        ],
    )
    def test_says_what_does_not_fit(self, admin, ann, said, loc, words):
        answer = give(admin, **said)
        [problem] = answer.json()["detail"]
        assert (answer.status_code, problem["loc"]) == (422, loc)
        assert words in problem["msg"]
        assert not Grant.objects.exists()

    def test_for_a_group_that_no_asset_is_of_is_refused_with_those_there_are(self, admin, ann):
        answer = give(admin, user="ann", asset_group="slaes")
        assert answer.status_code == 400
        assert answer.json() == {
            "detail": "no asset is of the group 'slaes'; there are: sales, staff",
        }


class TestTaking:
    def test_ends_what_it_granted(self, admin, ann):
        pk = give(admin, user="ann").json()["id"]
        assert admin.delete(f"{URL}/{pk}").status_code == 204
        assert client_of(ann).get("/api/v2/assets").json()["total_entries"] == 2
        assert JournalEntry.objects.get(event="grant taken").extra["to"] == "ann"

    def test_one_that_is_not_there(self, admin):
        assert admin.delete(f"{URL}/7").json() == {"detail": "The grant with ID: `7` was not found"}


class TestLooking:
    def test_is_narrowed(self, admin, ann):
        give(admin, user="ann")
        give(admin, user="ann", asset_group="staff", role="viewer")
        for query, count in (("asset_group=staff", 1), ("role=viewer&role=operator", 2), ("user=bob", 0)):
            assert admin.get(f"{URL}?{query}").json()["total_entries"] == count

    def test_everybody_sees_their_own_and_their_teams(self, admin, ann):
        bob, team = User.objects.create(username="bob"), Group.objects.create(name="analysts")
        bob.groups.add(team)
        mine = give(admin, user="bob").json()["id"]
        ours = give(admin, team="analysts").json()["id"]
        hers = give(admin, user="ann").json()["id"]
        seen = client_of(bob).get(URL).json()
        assert ([each["id"] for each in seen["grants"]], seen["total_entries"]) == ([mine, ours], 2)
        assert client_of(bob).get(f"{URL}/{hers}").status_code == 404
        assert client_of(bob).get(f"{URL}/{mine}").status_code == 200


class TestWhoGives:
    """Only admins of the whole site: nobody makes more of what they were granted."""

    @pytest.mark.parametrize("role", [roles.VIEWER, roles.OPERATOR, roles.EDITOR])
    def test_no_other_role(self, admin, api_of, ann, role):
        pk = give(admin, user="ann").json()["id"]
        assert give(api_of(role), user="ann", asset_group="staff").status_code == 403
        assert api_of(role).delete(f"{URL}/{pk}").status_code == 403
        assert api_of(role).get(URL).json()["total_entries"] == 0

    def test_no_admin_of_one_group_of_assets(self, admin, ann):
        pk = give(admin, user="ann", role="admin").json()["id"]
        client = client_of(ann)
        for group in ("sales", "staff"):
            assert give(client, user="ann", asset_group=group).status_code == 403
        assert client.delete(f"{URL}/{pk}").status_code == 403
        assert Grant.objects.count() == 1

    @pytest.mark.parametrize(("scope", "status"), [("read", 403), ("write", 403), ("all", 201)])
    def test_no_token_that_is_not_for_all(self, admin, ann, user_of, scope, status):
        _, token = ApiToken.objects.create(user=user_of(roles.ADMIN), expiry=None, scope=scope)
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
        assert client.get(URL).status_code == 200
        assert give(client, user="ann").status_code == status
