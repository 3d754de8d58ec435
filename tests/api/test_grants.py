"""Roles for one group of assets: every address and method, with things of one's own group and of another."""

import re

import pytest
from django.contrib.auth.models import Group, User

from core.models import Dag
from partitions_site import grants, roles
from partitions_site.api import urls
from partitions_site.api.auth import A_READ, GROUPED, OWN, SIGNED_IN, SITE, Address
from tests.api.addresses import OPEN, SHUT, addresses
from tests.api.asking import PREFIX, ask
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

LISTS = {
    ("assets/events/bulk", "post"): 422,
    ("dags", "patch"): 200,
    ("dags/<str:dag_id>/dagRuns", "patch"): 200,
    ("runs/claim", "post"): 200,
}
"""What is answered to a write about things of another group where it is no 404: nothing was done."""


class TestEveryAddress:
    @pytest.mark.sqlite
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

    @WRITES
    def test_of_a_group_that_is_only_looked_at_does_nothing(self, groups, address, view, method):
        """They see ours, and may do it elsewhere: nothing but a look at the thing itself stops them."""
        granted(roles.VIEWER)
        before = state()
        answer = ask(client_of(granted(roles.ADMIN, THEIRS)), address, method, groups[OURS])
        if view.needs[method.upper()] in (A_READ, SIGNED_IN):
            return
        wanted = LISTS.get((address.removeprefix(PREFIX), method), 403)
        nothing_waits = address.endswith("queuedEvents") and answer.status_code == 404
        assert answer.status_code == wanted or nothing_waits, answer.content.decode()
        assert state()[1:5] == before[1:5]
        assert not Dag.objects.filter(dag_id__startswith=OURS, is_paused=True).exists()

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
