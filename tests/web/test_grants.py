"""Roles for one group of assets, on every page."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from core.models import Dag, HeldRun, JournalEntry
from partitions_site import refusals, roles
from partitions_site.models import Grant
from partitions_site.web import urls
from partitions_site.web.http import signed_in
from tests.api.groups import MARK, OURS, THEIRS, build, granted, state
from tests.engine.world import HOURS_TO_DAY, asset, consumer, dag, emit, turn
from tests.web.screens import DEEDS, OPEN, OWN, names

pytestmark = pytest.mark.django_db

OF_THE_SITE = {"sensors", "sensor", "sensor_pause", "sensor_look", "definitions"}
NUMBERS = {"held": "held_run_id", "run": "run_pk", "backfill": "backfill_id"}
"""Which number stands in the address of a screen, by the first word of its name."""


@pytest.fixture(scope="module")
def groups(db_of_the_file):
    return {OURS: build(OURS), THEIRS: build(MARK)}


def visitor(role, *more):
    user = granted(role, *more)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client


def address(name, things):
    pattern = next(each for each in urls.urlpatterns if each.name == name).pattern
    known = {
        "dag_id": things["dag_id"],
        "name": things["asset"],
        "pk": things.get(NUMBERS.get(name.split("_")[0])),
    }
    here = reverse(name, kwargs={key: known[key] for key in pattern.converters})
    asked = {each: things[each] for each in ("dag_id", "asset", "key", "held_run_id")}
    return "{here}?dag={dag_id}&asset={asset}&key={key}&run={held_run_id}".format(here=here, **asked)


def form(things, name=""):
    """What any deed takes; one that is done to several names them."""
    several = {"these": f"{things.get(NUMBERS.get(name.split('_')[0]))}.any.0"}
    asked = {"dag": things["dag_id"], "asset": things["asset"], "key": "c", "keys": "new", "paused": "yes"}
    return asked | several


def screens():
    return [name for name in names() if name not in OPEN | OWN]


class TestEveryScreen:
    @pytest.mark.parametrize("name", screens())
    def test_shows_nothing_of_another_group(self, groups, name):
        client = visitor(roles.ADMIN)
        answer = client.get(address(name, groups[THEIRS]))
        if name in OF_THE_SITE:
            assert answer.status_code == 403
        else:
            assert answer.status_code in (200, 404, 405)
        asked = [groups[THEIRS][each] for each in ("dag_id", "asset", "key")]
        shown = answer.content.decode()
        for each in asked:  # what the address said itself stands in the form that asked
            shown = shown.replace(each, "")
        assert MARK not in shown

    @pytest.mark.parametrize("name", [each for each in screens() if each not in OF_THE_SITE])
    def test_shows_what_is_of_ours(self, groups, name):
        answer = visitor(roles.ADMIN).get(address(name, groups[OURS]))
        assert answer.status_code in (200, 405)
        assert MARK not in answer.content.decode()

    @pytest.mark.parametrize("name", [each for each in screens() if each not in OF_THE_SITE])
    def test_without_an_address_of_anything_shows_ours(self, groups, name):
        pattern = next(each for each in urls.urlpatterns if each.name == name).pattern
        if not pattern.converters:
            assert MARK not in visitor(roles.ADMIN).get(reverse(name)).content.decode()

    @pytest.mark.parametrize("name", DEEDS)
    def test_does_nothing_to_another_group(self, groups, name):
        before = state()
        answer = visitor(roles.ADMIN).post(address(name, groups[THEIRS]), form(groups[THEIRS], name))
        assert answer.status_code == (403 if name in OF_THE_SITE else 404)
        assert state() == before

    @pytest.mark.parametrize("name", [each for each in DEEDS if each not in OF_THE_SITE])
    def test_lets_no_viewer_of_a_group_do_anything_there(self, groups, name):
        before = state()
        client = visitor(roles.VIEWER)
        granted(roles.ADMIN, THEIRS)  # what somebody may elsewhere is no right here
        client.force_login(User.objects.get(username="ann"))
        answer = client.post(address(name, groups[OURS]), form(groups[OURS], name))
        assert answer.status_code == 403
        assert state() == before

    def test_one_that_is_of_the_site_is_told_so(self, groups):
        page = visitor(roles.ADMIN).get("/definitions").content.decode()
        assert "not for this" in page

    def test_is_put_into_the_map_as_one_of_three_kinds(self):
        assert not hasattr(urls, "screen")
        assert signed_in.__kwdefaults__ == {"of_the_site": False}


class TestDeeds:
    def test_an_operator_of_a_group_does_what_operators_do_there(self, groups):
        client, things = visitor(roles.OPERATOR), groups[OURS]
        client.post("/pause", {"dag": things["dag_id"], "paused": "yes"})
        assert Dag.objects.get(dag_id=things["dag_id"]).is_paused
        client.post(f"/held/{things['held_run_id']}/cancel", {"reason": "r"})
        assert HeldRun.objects.get(pk=things["held_run_id"]).state == "cancelled"
        assert {each.by for each in JournalEntry.objects.order_by("-pk")[:2]} == {"ann"}

    def test_what_one_may_do_is_offered_and_nothing_else(self, groups):
        page = f"/dags/{OURS}_plain"
        assert "Pausing takes the right" not in visitor(roles.OPERATOR).get(page).content.decode()
        other = visitor(roles.VIEWER, OURS, "bob").get(page).content.decode()
        assert "Pausing takes the right" in other

    def test_what_one_may_do_elsewhere_names_the_group_where_one_may_not(self, groups):
        client = visitor(roles.VIEWER)
        granted(roles.OPERATOR, THEIRS)
        client.force_login(User.objects.get(username="ann"))
        page = client.get(f"/dags/{OURS}_plain").content.decode()
        assert f"Pausing takes the right to pause Dags in the group {OURS} (core.change_dag)" in page

    def test_and_both_groups_of_what_is_of_two(self, groups):
        user = granted(roles.OPERATOR, "another")
        asset("a", group="first")
        asset("b", group="second")
        of_both = dag("both", writes=["a", "b"])
        told = refusals.why_not(user, "core.change_dag", of_both)
        assert "the right to pause Dags in the groups first and second (core.change_dag)" in told

    def test_who_cannot_count_an_event_is_told_of_those_one_sees(self, groups):
        for name, writes in ((f"{OURS}_hears", f"{OURS}_out"), (f"{MARK}_hears", f"{MARK}_out")):
            consumer(name, {f"{OURS}_in": HOURS_TO_DAY}, writes=[writes])
        for key in ("no hour", ""):
            form = {"asset": f"{OURS}_in", "key": key}
            shown = visitor(roles.OPERATOR).post(reverse("record"), form, follow=True).content.decode()
            assert f"{OURS}_hears cannot count it" in shown
            assert MARK not in shown

    def test_a_dag_that_cannot_count_what_others_report_is_told_without_a_way_there(self, groups):
        consumer(f"{OURS}_far", {f"{MARK}_in": HOURS_TO_DAY}, writes=[f"{OURS}_out"])
        emit(f"{MARK}_in", "no hour", at=timezone.now())
        turn(timezone.now())
        shown = visitor(roles.VIEWER).get("/").content.decode()
        assert f"cannot count no hour of {MARK}_in: " in shown
        assert reverse("dag", args=[f"{OURS}_far"]) in shown
        assert reverse("asset", args=[f"{MARK}_in"]) not in shown

    def test_pages_of_the_site_are_not_offered(self, groups):
        assert "/definitions" not in visitor(roles.ADMIN).get("/").content.decode()
        Grant.objects.all().delete()
        assert "/definitions" in visitor_without_grants().get("/").content.decode()

    def test_a_plan_takes_a_role_for_every_dag_of_it(self, groups):
        dag("both", {"type": "PartitionedAtRuntime"}, writes=[f"{OURS}_out", f"{MARK}_out"])
        answer = visitor(roles.OPERATOR).post("/backfills/new", {"dag": "both", "selection": "c"})
        assert answer.status_code == 403


def visitor_without_grants():
    client = Client()
    client.force_login(User.objects.get(username="ann"))
    return client


class TestAdministration:
    @pytest.fixture
    def staff(self, groups):
        user = granted(roles.ADMIN)
        user.is_staff = True
        user.save()
        return visitor(roles.ADMIN)

    def test_is_shut_to_roles_of_a_group(self, staff):
        for name in ("dag", "asset", "dagrun", "heldrun", "journalentry", "backfill", "pool", "partition"):
            assert staff.get(f"/admin/core/{name}/").status_code == 403
        assert MARK not in staff.get("/admin/").content.decode()

    def test_gives_and_takes_grants_and_the_journal_says_so(self, client, groups):
        owner = User.objects.create_superuser("root")
        client.force_login(owner)
        bob = User.objects.create(username="bob")
        body = {"user": bob.pk, "team": "", "asset_group": OURS, "role": "operator"}
        assert client.post("/admin/partitions_site/grant/add/", body).status_code == 302
        grant = Grant.objects.get(user=bob)
        entry = JournalEntry.objects.latest("pk")
        assert (entry.event, entry.by, entry.via) == ("grant given", "root", "admin")
        assert entry.extra == {"to": "bob", "role": "operator", "asset_group": OURS}
        changed = body | {"role": "viewer"}
        client.post(f"/admin/partitions_site/grant/{grant.pk}/change/", changed)
        assert JournalEntry.objects.latest("pk").event == "grant changed"
        client.post(f"/admin/partitions_site/grant/{grant.pk}/delete/", {"post": "yes"})
        assert JournalEntry.objects.latest("pk").event == "grant taken"
        assert not Grant.objects.exists()

    @pytest.mark.parametrize("wrong", [{"user": "", "team": ""}, {"asset_group": "nowhere"}])
    def test_refuses_a_grant_to_nobody_or_for_nothing(self, client, groups, wrong):
        client.force_login(User.objects.create_superuser("root"))
        bob, team = User.objects.create(username="bob"), Group.objects.create(name="t")
        body = {"user": bob.pk, "team": "", "asset_group": OURS, "role": "operator"} | wrong
        assert client.post("/admin/partitions_site/grant/add/", body).status_code == 200
        both = {"user": bob.pk, "team": team.pk, "asset_group": OURS, "role": "operator"}
        assert client.post("/admin/partitions_site/grant/add/", both).status_code == 200
        assert not Grant.objects.exists()
