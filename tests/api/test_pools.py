"""Pools over the API, as Airflow's client reads them."""

import pytest

from core.models import Dag, DagRun, JournalEntry, Pool
from partitions_site import roles
from scheduling import claims, newruns
from scheduling.newruns import NewRun, Type
from tests.engine.world import NOW, dag

pytestmark = pytest.mark.django_db
URL = "/api/v2/pools"


@pytest.fixture
def api(api_of):
    return api_of(roles.EDITOR)


@pytest.fixture
def sftp(api):
    answer = api.post(URL, {"name": "sftp", "slots": 4, "description": "logins"})
    assert answer.status_code == 201
    return answer.json()


def run(count, started):
    """`count` runs of a Dag in the pool, some of them started."""
    made = dag("d", pool=Pool.objects.get(name="sftp"), pool_slots=2)
    waiting = newruns.create([NewRun(made, Type.MANUAL) for _ in range(count)], at=NOW)
    return [claims.claim(each.pk, worker="w", now=NOW) for each in waiting[:started]]


class TestOne:
    def test_is_told_with_what_is_taken_of_it(self, api, sftp):
        run(3, started=1)
        assert api.get(f"{URL}/sftp").json() == {
            "name": "sftp",
            "slots": 4,
            "description": "logins",
            "include_deferred": False,
            "occupied_slots": 2,
            "running_slots": 2,
            "open_slots": 2,
            "queued_slots": 4,
            "scheduled_slots": 0,
            "deferred_slots": 0,
        }

    def test_is_empty_when_it_is_made(self, sftp):
        assert (sftp["occupied_slots"], sftp["open_slots"]) == (0, 4)

    def test_that_shrank_below_what_is_taken_has_no_open_slots(self, api, sftp):
        run(2, started=2)
        changed = api.patch(f"{URL}/sftp", {"slots": 2}).json()
        assert (changed["slots"], changed["occupied_slots"], changed["open_slots"]) == (2, 4, 0)

    def test_of_a_strange_name_is_found(self, api):
        assert api.post(URL, {"name": "a/b ü?", "slots": 1}).status_code == 201
        assert api.get(f"{URL}/a%2Fb%20%C3%BC%3F").json()["name"] == "a/b ü?"

    @pytest.mark.parametrize("method", ["get", "patch", "delete"])
    def test_that_is_not_there_is_404(self, api, method):
        answer = getattr(api, method)(f"{URL}/nothing")
        assert answer.status_code == 404
        assert answer.json() == {"detail": "The Pool with name: `nothing` was not found"}


class TestList:
    def test_is_paged_ordered_and_narrowed(self, api, sftp):
        for number in range(3):
            api.post(URL, {"name": f"p{number}", "slots": number})
        found = api.get(URL, {"pool_name_pattern": "p", "order_by": "-slots", "limit": 2}).json()
        assert [each["name"] for each in found["pools"]] == ["sftp", "p2"]
        assert found["total_entries"] == 4

    def test_costs_the_same_however_many_there_are(self, api, sftp, django_assert_max_num_queries):
        for number in range(20):
            api.post(URL, {"name": f"p{number}", "slots": 1})
        with django_assert_max_num_queries(6):
            assert len(api.get(URL).json()["pools"]) == 21


class TestChange:
    def test_is_made_in_the_name_of_who_asked(self, api, sftp):
        assert api.patch(f"{URL}/sftp", {"slots": 0}).json()["slots"] == 0
        entry = JournalEntry.objects.get(event="pool changed")
        assert (entry.by, entry.via, entry.extra["now"]["slots"]) == ("editor", "api", 0)

    def test_leaves_alone_what_it_does_not_name(self, api, sftp):
        assert api.patch(f"{URL}/sftp", {"slots": 5}).json()["description"] == "logins"
        changed = api.patch(f"{URL}/sftp", {"slots": None, "description": ""}).json()
        assert (changed["slots"], changed["description"]) == (5, "")
        changed = api.patch(f"{URL}/sftp", {"description": None, "pool": "sftp"}).json()
        assert (changed["slots"], changed["description"]) == (5, "")

    def test_is_of_what_the_mask_names(self, api, sftp):
        changed = api.patch(f"{URL}/sftp?update_mask=description", {"slots": 9, "description": "new"}).json()
        assert (changed["slots"], changed["description"]) == (4, "new")

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"slots": -1}, 422),
            ({"slots": "many"}, 422),
            ({"slots": 2_000_000}, 400),
            ({"name": "other"}, 422),
            ({"pool": "other", "slots": 1}, 400),
        ],
    )
    def test_to_what_cannot_be_is_refused(self, api, sftp, body, code):
        assert api.patch(f"{URL}/sftp", body).status_code == code
        assert Pool.objects.get().slots == 4


class TestMake:
    def test_of_a_name_that_is_taken_is_a_conflict(self, api, sftp):
        answer = api.post(URL, {"name": "sftp", "slots": 1})
        assert answer.status_code == 409
        assert "there is a pool 'sftp' already" in answer.json()["detail"]

    @pytest.mark.parametrize(
        ("body", "code"), [({"name": "x"}, 422), ({"slots": 1}, 422), ({"name": " x", "slots": 1}, 400)]
    )
    def test_needs_a_name_and_slots(self, api, body, code):
        assert api.post(URL, body).status_code == code
        assert not Pool.objects.exists()


class TestDelete:
    def test_takes_it_away(self, api, sftp):
        assert api.delete(f"{URL}/sftp").status_code == 204
        assert not Pool.objects.exists()

    def test_is_a_conflict_while_a_dag_names_it(self, api, sftp):
        run(1, started=1)
        answer = api.delete(f"{URL}/sftp")
        assert (answer.status_code, "is named by d" in answer.json()["detail"]) == (409, True)
        Dag.objects.update(pool=None)
        assert "runs have slots" in api.delete(f"{URL}/sftp").json()["detail"]
        DagRun.objects.update(state="success")
        assert api.delete(f"{URL}/sftp").status_code == 204
