from datetime import timedelta

import pytest
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.utils import timezone

from partitions_site import roles
from partitions_site.credentials import Backend, tokens_of
from partitions_site.models import ApiToken, Grant

pytestmark = pytest.mark.django_db


def user(name="ann", *groups, **fields):
    made = User.objects.create_user(name, **fields)
    made.groups.add(*Group.objects.filter(name__in=groups))
    return made


def anew(person):
    """As the next request sees them: permissions are kept as long as the instance lives."""
    return User.objects.get(pk=person.pk)


class TestBackend:
    @pytest.mark.parametrize("groups", [(), (roles.VIEWER,), (roles.OPERATOR, roles.VIEWER), (roles.ADMIN,)])
    def test_knows_the_permissions_that_djangos_own_does(self, groups):
        person = user("ann", *groups)
        person.user_permissions.add(Permission.objects.get(codename="change_dag"))
        expected = ModelBackend().get_all_permissions(anew(person))
        assert Backend().get_all_permissions(anew(person)) == expected
        assert "core.change_dag" in expected

    def test_asks_once(self, django_assert_num_queries):
        person = anew(user("ann", roles.OPERATOR))
        with django_assert_num_queries(1):
            assert person.has_perm("core.add_assetevent")
            assert not person.has_perm("core.delete_pool")

    def test_gives_no_rights_to_who_has_none(self):
        nobody, gone = AnonymousUser(), user("bob", roles.ADMIN, is_active=False)
        assert Backend().get_all_permissions(nobody) == set()
        assert Backend().get_all_permissions(gone) == set()
        assert not gone.has_perm("core.add_assetevent")

    def test_an_owner_may_all(self):
        owner = User.objects.create_superuser("root")
        assert owner.has_perm("core.delete_pool")
        assert Backend().get_all_permissions(owner) == ModelBackend().get_all_permissions(anew(owner))

    def test_a_right_that_is_taken_away_is_gone_with_the_next_request(self):
        person = user("ann", roles.OPERATOR)
        assert anew(person).has_perm("core.add_assetevent")
        person.groups.clear()
        assert not anew(person).has_perm("core.add_assetevent")


class TestTokensOf:
    def test_one_query_gives_the_token_with_its_user(self, django_assert_num_queries):
        person = user("ann", roles.OPERATOR, email="ann@example.org")
        token, written = ApiToken.objects.create(user=person, name="loader", expiry=timedelta(days=1))
        with django_assert_num_queries(1):
            [found] = tokens_of(written[:15])
            assert (found.user.email, found.user.is_active) == ("ann@example.org", True)
        assert (found.digest, found.name, found.expiry) == (token.digest, "loader", token.expiry)

    @pytest.mark.parametrize("groups", [(), (roles.OPERATOR,), (roles.EDITOR, roles.VIEWER)])
    def test_and_with_what_that_user_may(self, groups, django_assert_num_queries):
        person, team = user("ann", *groups), Group.objects.create(name="night shift")
        person.user_permissions.add(Permission.objects.get(codename="delete_pool"))
        person.groups.add(team)
        Grant.objects.create(user=person, asset_group="a b", role=Grant.Role.EDITOR)
        Grant.objects.create(team=team, asset_group="a b", role=Grant.Role.EDITOR)
        Grant.objects.create(team=team, asset_group="other", role=Grant.Role.VIEWER)
        _, written = ApiToken.objects.create(user=person, name="loader")
        with django_assert_num_queries(1):
            [found] = tokens_of(written[:15])
            rights = found.user.get_all_permissions()
        assert rights == ModelBackend().get_all_permissions(anew(person)) >= {"core.delete_pool"}
        assert sorted(found.user._granted) == [("editor", "a b"), ("viewer", "other")]

    def test_an_owner_may_all(self):
        owner = User.objects.create_superuser("root")
        [found] = tokens_of(ApiToken.objects.create(user=owner)[1][:15])
        assert found.user.get_all_permissions() == ModelBackend().get_all_permissions(anew(owner))

    def test_nobody_is_told_what_is_over(self):
        person = user("ann", roles.OPERATOR)
        row, written = ApiToken.objects.create(user=person, name="loader")
        assert tokens_of(written[:15])[0].user.has_perm("core.add_assetevent")
        person.groups.clear()
        assert not tokens_of(written[:15])[0].user.has_perm("core.add_assetevent")
        row.delete()
        assert tokens_of(written[:15]) == []

    def test_an_unknown_one_is_none(self):
        assert tokens_of("pt_unknown00000") == []

    def test_it_tells_of_one_that_is_over(self):
        past = timezone.now() - timedelta(days=1)
        _, written = ApiToken.objects.create(user=user(), name="old", expiry=timedelta(days=1))
        ApiToken.objects.update(expiry=past)
        assert [found.expiry for found in tokens_of(written[:15])] == [past]
