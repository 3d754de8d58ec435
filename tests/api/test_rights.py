"""Who may do what: every address of the API, every method, every role."""

import re
from itertools import pairwise

import pytest

from partitions_site import roles
from partitions_site.api.auth import A_READ, SIGNED_IN, Address, OpenAddress
from tests.api.addresses import OPEN, SHUT, WRITES, addresses

pytestmark = pytest.mark.django_db

WHO = {
    A_READ: {roles.VIEWER, roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    SIGNED_IN: {roles.VIEWER, roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.add_assetevent": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.add_dagrun": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_dagrun": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_heldrun": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_dag": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.add_backfill": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_backfill": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.add_dynamickey": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_dynamickey": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.change_sensor": {roles.OPERATOR, roles.EDITOR, roles.ADMIN},
    "core.delete_assetevent": {roles.EDITOR, roles.ADMIN},
    "core.delete_dagrun": {roles.EDITOR, roles.ADMIN},
    "core.delete_partition": {roles.EDITOR, roles.ADMIN},
    "core.add_pool": {roles.EDITOR, roles.ADMIN},
    "core.change_pool": {roles.EDITOR, roles.ADMIN},
    "core.delete_pool": {roles.EDITOR, roles.ADMIN},
    "core.change_scheduleoverride": {roles.ADMIN},
    "partitions_site.add_grant": {roles.ADMIN},
    "partitions_site.delete_grant": {roles.ADMIN},
}
"""Roles that each permission belongs to."""


def filled(address):
    return "/" + re.sub(r"<path:\w+>", "x", re.sub(r"<str:\w+>", "1", address))


CLOSED = [(address, view, method) for address, view, method in addresses() if address not in OPEN]


@pytest.mark.sqlite  # who may is decided before anything is looked for; what is found by whom, in test_grants
class TestEveryAddress:
    def test_there_are_some(self):
        assert len(CLOSED) > 15

    @pytest.mark.parametrize(("address", "view", "method"), list(addresses()))
    def test_is_open_only_if_it_is_listed(self, address, view, method):
        looks_at_nobody = issubclass(view, OpenAddress) or not issubclass(view, Address)
        assert looks_at_nobody == (address in OPEN)

    @pytest.mark.parametrize(("address", "view", "method"), CLOSED)
    def test_answers_nobody_who_has_not_signed_in(self, anyone, address, view, method):
        answer = getattr(anyone, method)(filled(address), {})
        assert (answer.status_code, answer.json()) == (401, {"detail": "Not authenticated"})

    @pytest.mark.parametrize(("address", "view", "method"), [each for each in CLOSED if each[2] in WRITES])
    def test_says_what_a_write_needs(self, address, view, method):
        assert view.needs[method.upper()] in WHO

    @pytest.mark.parametrize(("address", "view", "method"), CLOSED)
    def test_lets_in_who_may(self, api_of, address, view, method):
        may = WHO[view.needs[method.upper()]] if method in WRITES else set(roles.GRANTS)
        answers = {role: getattr(api_of(role), method)(filled(address), {}) for role in roles.GRANTS}
        refused = {role for role, answer in answers.items() if answer.status_code == 403}
        assert refused == (set(roles.GRANTS) if address in SHUT else set(roles.GRANTS) - may)
        if address not in SHUT:
            assert all(answers[role].json() == {"detail": "Forbidden"} for role in refused)

    @pytest.mark.parametrize(
        ("address", "view"), list(dict.fromkeys((address, view) for address, view, _ in CLOSED))
    )
    def test_knows_methods_it_does_not_have(self, api_of, address, view):
        for method in WRITES:
            if not hasattr(view, method):
                answer = getattr(api_of(roles.ADMIN), method)(filled(address), {})
                assert (answer.status_code, answer.json()) == (405, {"detail": "Method Not Allowed"})


class TestAWriteNobodyDecidedOn:
    def test_is_refused_even_to_a_superuser(self, user_of):
        from rest_framework.response import Response
        from rest_framework.test import APIRequestFactory, force_authenticate

        class Forgotten(Address):
            def post(self, request):
                return Response("done")

        user = user_of(roles.ADMIN)
        user.is_superuser = True
        request = APIRequestFactory().post("/forgotten", {})
        force_authenticate(request, user)
        assert Forgotten.as_view()(request).status_code == 403


class TestRoles:
    def test_each_has_the_rights_of_those_before_it(self, user_of):
        rights = [user_of(role).get_all_permissions() for role in roles.GRANTS]
        assert all(less < more for less, more in pairwise(rights))

    def test_viewers_may_look_at_everything_and_change_nothing(self, user_of):
        rights = user_of(roles.VIEWER).get_all_permissions()
        assert "core.view_heldrun" in rights
        assert all(right.startswith("core.view_") for right in rights)

    def test_only_admins_reach_users(self, user_of):
        assert user_of(roles.ADMIN).has_perm("auth.change_user")
        assert not user_of(roles.EDITOR).has_perm("auth.view_user")

    def test_rights_that_were_added_stay_and_those_taken_away_come_back(self, user_of):
        from django.contrib.auth.models import Group, Permission

        group = Group.objects.get(name=roles.VIEWER)
        extra = Permission.objects.get(codename="add_assetevent")
        group.permissions.set([extra])
        roles.ensure_roles()
        assert extra in group.permissions.all()
        assert user_of(roles.VIEWER).has_perm("core.view_asset")
