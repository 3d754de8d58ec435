"""Signing in with an OpenID Connect provider that runs in this test and signs what it says."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection
from django.test import Client
from django.urls import reverse

from core.models import JournalEntry
from partitions_site import oidc, roles
from partitions_site.models import Identity
from tests.web.reading import read

pytest.importorskip("authlib", reason="needs Authlib, which requirements.txt pins")

from tests.web.provider import CLIENT, SECRET, Provider

pytestmark = pytest.mark.django_db


@pytest.fixture
def provider(settings):
    provider = Provider()
    settings.OIDC_ISSUER = provider.issuer
    settings.OIDC_CLIENT_ID, settings.OIDC_CLIENT_SECRET = CLIENT, SECRET
    settings.OIDC_NAME = "Example"
    oidc._provider.cache_clear()
    yield provider
    oidc._provider.cache_clear()
    provider.stop()


def come_in(provider, client=None, *, onward="/held"):
    """Through the provider and back, as a browser goes."""
    client = client or Client()
    there = client.get(f"{reverse('oidc')}?next={onward}")
    assert there.status_code == 302, there.content.decode()
    back = urlsplit(provider.authorize(there["Location"]))
    return client, client.get(f"{back.path}?{back.query}")


def name_of(client):
    user = User.objects.filter(pk=client.session.get("_auth_user_id")).first()
    return user.username if user else None


class TestTheWay:
    def test_is_offered_where_it_is_set(self, client, provider):
        assert "Sign in with Example" in read(client.get("/sign-in")).links

    def test_is_not_there_where_it_is_not(self, client, db):
        assert "Sign in with" not in client.get("/sign-in").content.decode()
        assert client.get(reverse("oidc")).status_code == 404
        assert client.get(reverse("oidc_callback")).status_code == 404

    def test_leads_back_to_where_one_was_going(self, provider):
        client, answer = come_in(provider, onward="/held%3Flate=yes")
        assert (answer.status_code, answer["Location"]) == (302, "/held?late=yes")
        assert client.get("/held").status_code == 200

    def test_leads_nowhere_else(self, provider):
        assert come_in(provider, onward="//evil.example")[1]["Location"] == "/"

    def test_of_a_provider_that_is_away_is_said(self, client, provider):
        provider.stop()
        answer = client.get(reverse("oidc"))
        assert answer.status_code == 502
        assert "cannot be reached" in answer.content.decode()


class TestWhatIsBelieved:
    @pytest.mark.parametrize(
        "faults",
        [
            {"nonce": "another"},
            {"nonce": None},
            {"aud": "another-site"},
            {"aud": None},
            {"iss": "https://evil.example"},
            {"exp": 1_000_000_000},
            {"exp": None},
            {"sub": None},
        ],
    )
    def test_no_token_that_is_not_of_it_for_us_and_now(self, provider, faults):
        provider.faults = faults
        client, answer = come_in(provider)
        assert answer.status_code == 403
        assert name_of(client) is None
        assert not User.objects.exists()

    def test_no_signature_of_another_key(self, provider):
        from joserfc.jwk import RSAKey

        provider.signs_with = RSAKey.generate_key(2048, {"kid": "1"})
        assert come_in(provider)[1].status_code == 403

    @pytest.mark.parametrize("algorithm", ["HS256", "none"])
    def test_no_signature_that_anybody_could_make(self, provider, algorithm):
        provider.algorithm = algorithm
        assert come_in(provider)[1].status_code == 403

    def test_no_answer_that_was_not_asked_for(self, provider):
        mine, victim = Client(), Client()
        back = urlsplit(provider.authorize(mine.get(reverse("oidc"))["Location"]))
        assert victim.get(f"{back.path}?{back.query}").status_code == 403
        assert name_of(victim) is None

    def test_no_answer_twice(self, provider):
        client = Client()
        back = urlsplit(provider.authorize(client.get(reverse("oidc"))["Location"]))
        assert client.get(f"{back.path}?{back.query}").status_code == 302
        client.logout()
        assert client.get(f"{back.path}?{back.query}").status_code == 403

    def test_no_code_without_the_verifier_of_who_asked(self, provider):
        client = Client()
        address = client.get(reverse("oidc"))["Location"]
        back = urlsplit(provider.authorize(address.replace("code_challenge=", "code_challenge=x")))
        assert client.get(f"{back.path}?{back.query}").status_code == 403

    def test_no_provider_that_calls_itself_otherwise(self, provider, settings):
        settings.OIDC_ISSUER = provider.issuer.replace("127.0.0.1", "localhost")
        oidc._provider.cache_clear()
        assert come_in(provider)[1].status_code == 403


class TestWho:
    def test_a_person_is_who_the_provider_says_whatever_they_are_called(self, provider):
        come_in(provider)
        provider.claims |= {"preferred_username": "ann.married"}
        client, _ = come_in(provider)
        assert name_of(client) == "ann"
        assert not User.objects.get().has_usable_password()
        assert [each.event for each in JournalEntry.objects.all()] == ["login made"]

    @pytest.mark.parametrize("claims", [{}, {"email": "root@example.com", "email_verified": True}])
    def test_nobody_takes_a_login_that_is_there(self, provider, claims):
        owner = User.objects.create_superuser("ann", "root@example.com", "secret")
        provider.claims |= claims
        client, _ = come_in(provider)
        assert name_of(client) == "ann-2"
        assert not Identity.objects.filter(user=owner).exists()

    def test_an_equal_verified_address_is_the_same_person_if_that_is_set(self, provider, settings):
        settings.OIDC_LINK_BY_EMAIL = True
        User.objects.create_user("old.name", "Ann@Example.com")
        provider.claims |= {"email": "ann@example.com", "email_verified": True}
        assert name_of(come_in(provider)[0]) == "old.name"
        assert JournalEntry.objects.get().event == "login linked"
        provider.claims["sub"] = "u-2"  # a second person with that address is not the first one
        assert name_of(come_in(provider)[0]) == "ann"

    @pytest.mark.parametrize("verified", [False, None, "true"])
    def test_an_address_that_is_not_verified_means_nothing(self, provider, settings, verified):
        settings.OIDC_LINK_BY_EMAIL = True
        User.objects.create_user("old.name", "ann@example.com")
        provider.claims |= {"email": "ann@example.com", "email_verified": verified}
        assert name_of(come_in(provider)[0]) == "ann"
        assert User.objects.get(username="ann").email == ""

    def test_an_address_of_two_logins_is_nobodys(self, provider, settings):
        settings.OIDC_LINK_BY_EMAIL = True
        for name in ("a", "b"):
            User.objects.create_user(name, "ann@example.com")
        provider.claims |= {"email": "ann@example.com", "email_verified": True}
        assert name_of(come_in(provider)[0]) == "ann"

    def test_a_login_that_was_shut_stays_shut(self, provider):
        come_in(provider)
        User.objects.update(is_active=False)
        client, answer = come_in(provider)
        assert (answer.status_code, name_of(client)) == (403, None)

    @pytest.mark.parametrize(
        ("wanted", "name"),
        [("Engine", "Engine-2"), ("\uff45ngine", "engine-2"), ("ro\uff4ft", "root-2"), ("\u2167", "VIII")],
    )
    def test_nobody_is_called_as_the_engine_or_somebody_else(self, provider, wanted, name):
        """Django writes letters that look alike as the same."""
        User.objects.create_superuser("root", password="secret")
        provider.claims["preferred_username"] = wanted
        assert name_of(come_in(provider)[0]) == name

    @pytest.mark.parametrize("subject", ["", "s" * 256, "a\x00b", "a\nb", 7, None])
    def test_nobody_comes_in_without_a_name_of_the_provider(self, provider, subject):
        provider.claims["sub"] = subject
        assert come_in(provider)[1].status_code == 403
        assert not User.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_one_who_comes_often_at_one_moment_is_one_login(self, provider):
        ready = Barrier(6)

        def come(number):
            try:
                ready.wait(10)
                return oidc.person({"sub": f"u-{number % 2}", "preferred_username": "eve"}).username
            finally:
                connection.close()

        with ThreadPoolExecutor(6) as pool:
            names = list(pool.map(come, range(6)))
        assert (set(names[::2]), set(names[1::2])) in (({"eve"}, {"eve-2"}), ({"eve-2"}, {"eve"}))
        assert Identity.objects.count() == JournalEntry.objects.count() == 2


class TestGroups:
    @pytest.fixture
    def mapped(self, provider, settings):
        settings.OIDC_GROUPS = {"data-eng": roles.OPERATOR, "data-admins": roles.ADMIN}
        return provider

    def groups(self):
        return set(User.objects.get().groups.values_list("name", flat=True))

    def test_there_say_those_here_at_every_sign_in(self, mapped):
        mapped.claims["groups"] = ["data-eng", "canteen"]
        come_in(mapped)
        assert self.groups() == {roles.OPERATOR}
        own = Group.objects.create(name="by hand")
        User.objects.get().groups.add(own)
        mapped.claims["groups"] = ["data-admins"]
        come_in(mapped)
        assert self.groups() == {roles.ADMIN, "by hand"}
        assert JournalEntry.objects.latest("pk").extra["now"] == [roles.ADMIN]

    @pytest.mark.parametrize("said", [None, [], ["canteen"], "canteen", {"data-eng": 1}, [["data-eng"]]])
    def test_let_nobody_in_who_is_in_none_of_them(self, mapped, said):
        mapped.claims["groups"] = said
        _, answer = come_in(mapped)
        assert answer.status_code == 403
        assert "none of the groups" in answer.content.decode()
        assert not User.objects.exists()

    def test_make_no_owner(self, mapped):
        mapped.claims["groups"] = "data-admins"
        come_in(mapped)
        user = User.objects.get()
        assert (user.is_superuser, user.is_staff) == (False, False)
