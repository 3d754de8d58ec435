"""Guessing passwords and asking too much: who is made to wait, and for how long."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from threading import Barrier

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import RequestFactory
from django.utils import timezone

from partitions_site import roles, tries
from partitions_site.api import throttles
from partitions_site.models import ApiToken, SignInTries
from partitions_site.tries import TooManyTries, Try
from tests.servers import free_port

pytestmark = pytest.mark.django_db

NOW = timezone.now()


@pytest.fixture(autouse=True)
def limit(settings):
    settings.SIGN_IN_TRIES = 3
    cache.clear()
    yield
    cache.clear()


def guess(client, password="guess", name="viewer", **headers):
    return client.post("/auth/token", {"username": name, "password": password}, **headers)


class TestSigningIn:
    def test_after_some_guesses_even_the_right_password_has_to_wait(self, anyone, user_of):
        user_of(roles.VIEWER)
        assert [guess(anyone).status_code for _ in range(3)] == [401] * 3
        answer = guess(anyone, "viewer-secret")
        assert answer.status_code == 429
        assert 290 < int(answer.headers["Retry-After"]) <= 300
        assert answer.json()["detail"].startswith("Too many failed sign-ins: try again in ")

    def test_of_one_door_counts_at_all_of_them(self, anyone, client, user_of):
        user_of(roles.VIEWER)
        guess(anyone)
        anyone.post("/auth/token/cli", {"username": "viewer", "password": "x"})
        client.post("/sign-in", {"username": "viewer", "password": "x"})
        assert guess(anyone, "viewer-secret").status_code == 429
        page = client.post("/sign-in", {"username": "viewer", "password": "viewer-secret"})
        assert page.status_code == 429
        assert int(page.headers["Retry-After"]) > 0
        assert b"Too many failed sign-ins" in page.content
        assert "_auth_user_id" not in client.session

    def test_djangos_admin_has_no_door_of_its_own(self, client):
        answer = client.get("/admin/login/?next=/admin/")
        assert (answer.status_code, answer["Location"]) == (302, "/sign-in?next=/admin/")

    def test_the_right_password_forgets_the_wrong_ones(self, anyone, user_of):
        user_of(roles.VIEWER)
        for _ in range(3):
            guess(anyone), guess(anyone)
            assert guess(anyone, "viewer-secret").status_code == 201

    def test_other_addresses_and_names_are_not_kept_waiting(self, anyone, user_of):
        user_of(roles.VIEWER)
        for _ in range(4):
            guess(anyone)
        assert guess(anyone, "viewer-secret", REMOTE_ADDR="192.0.2.7").status_code == 201
        assert guess(anyone, name="operator").status_code == 401

    def test_one_address_cannot_try_one_password_on_all_names(self, anyone):
        seen = [guess(anyone, name=f"name{number}").status_code for number in range(31)]
        assert seen == [401] * 30 + [429]

    def test_what_does_not_even_ask_is_not_counted(self, anyone):
        for _ in range(5):
            assert anyone.post("/auth/token", {"username": "viewer"}).status_code == 422
        assert not SignInTries.objects.exists()

    def test_names_are_one_however_they_are_written(self, anyone):
        for name in ("Viewer", "VIEWER", "viewer"):
            guess(anyone, name=name)
        assert guess(anyone).status_code == 429

    def test_nothing_is_kept_that_says_who(self, anyone):
        guess(anyone, name="secret-name")
        assert all("secret-name" not in row.digest for row in SignInTries.objects.all())


class TestCounting:
    def test_ends_by_itself(self):
        attempt = Try("ann", "192.0.2.1")
        for _ in range(3):
            tries.count(attempt, at=NOW)
        with pytest.raises(TooManyTries) as refusal:
            tries.count(attempt, at=NOW + timedelta(minutes=4))
        assert refusal.value.seconds == 60
        tries.count(attempt, at=NOW + tries.SPAN)
        assert SignInTries.objects.get(digest=next(iter(attempt.limits()))).count == 1

    def test_one_that_is_refused_is_not_counted_again(self):
        attempt = Try("ann", "192.0.2.1")
        for _ in range(10):
            with suppress(TooManyTries):
                tries.count(attempt, at=NOW)
        assert {row.count for row in SignInTries.objects.all()} == {3}

    def test_may_be_turned_off(self, settings):
        settings.SIGN_IN_TRIES = 0
        for _ in range(100):
            tries.count(Try("ann", "192.0.2.1"), at=NOW)
        assert not SignInTries.objects.exists()

    def test_takes_back_what_was_right(self):
        attempt = Try("ann", "192.0.2.1")
        tries.count(attempt, at=NOW)
        tries.forgive(attempt)
        assert sum(row.count for row in SignInTries.objects.all()) == 0


@pytest.mark.pg
@pytest.mark.django_db(transaction=True)
class TestAtTheSameMoment:
    def test_first_tries_are_all_counted(self):
        """On SQLite one writer waits for the other; here they are in the middle of it together."""
        attempt, together = Try("ann", "192.0.2.1"), Barrier(8, timeout=30)

        def attempted(_):
            try:
                connection.ensure_connection()
                together.wait()
                tries.count(attempt, at=NOW)
            except TooManyTries:
                return False
            else:
                return True
            finally:
                connection.close()

        with ThreadPoolExecutor(8) as threads:
            assert sum(threads.map(attempted, range(8))) == 3
        assert {row.count for row in SignInTries.objects.all()} == {3}


class TestAddress:
    @pytest.mark.parametrize(
        ("proxies", "forwarded", "address"),
        [
            (0, "192.0.2.66", "10.0.0.1"),
            (1, "192.0.2.66, 198.51.100.2", "198.51.100.2"),
            (2, "192.0.2.66, 198.51.100.2, 10.0.0.9", "198.51.100.2"),
            (2, "192.0.2.66", "10.0.0.1"),
            (1, "", ""),
        ],
    )
    def test_is_what_our_own_proxies_saw(self, settings, proxies, forwarded, address):
        settings.PROXIES = proxies
        request = RequestFactory().get("/", REMOTE_ADDR="10.0.0.1", HTTP_X_FORWARDED_FOR=forwarded)
        assert tries.address_of(request) == address

    def test_nobody_gets_away_by_making_one_up(self, anyone, settings):
        for number in range(4):
            answer = guess(anyone, HTTP_X_FORWARDED_FOR=f"192.0.2.{number}")
        assert answer.status_code == 429


class TestRequests:
    @pytest.fixture(autouse=True)
    def few(self, settings, monkeypatch):
        settings.REQUESTS_PER_MINUTE = 3
        monkeypatch.setattr(throttles, "time", lambda: 1_000_000_010.0)

    def test_more_than_so_many_have_to_wait_for_the_next_minute(self, api, lab):
        assert [api.get("/api/v2/dags?limit=0").status_code for _ in range(4)] == [200, 200, 200, 429]
        answer = api.get("/api/v2/dags?limit=0")
        assert answer.headers["Retry-After"] == "10"
        assert answer.json() == {"detail": "Too many requests: try again in 10 seconds"}

    def test_in_the_next_minute_there_are_more(self, api, lab, monkeypatch):
        for _ in range(4):
            api.get("/api/v2/dags?limit=0")
        monkeypatch.setattr(throttles, "time", lambda: 1_000_000_050.0)
        assert api.get("/api/v2/dags?limit=0").status_code == 200

    def test_each_token_has_its_own(self, anyone, user_of, lab):
        for _ in range(2):
            _, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
            anyone.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
            assert [anyone.get("/api/v2/dags?limit=0").status_code for _ in range(4)][-2:] == [200, 429]

    def test_whoever_has_not_signed_in_is_counted_by_address(self, anyone):
        seen = [anyone.get("/api/v2/version").status_code for _ in range(4)]
        assert seen == [200, 200, 200, 429]
        assert anyone.get("/api/v2/version", REMOTE_ADDR="192.0.2.9").status_code == 200

    def test_a_cache_that_is_away_keeps_nobody_out(self, api, lab, settings, caplog):
        settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
        throttles._redis.cache_clear()
        assert [api.get("/api/v2/dags?limit=0").status_code for _ in range(4)] == [200] * 4
        throttles._redis.cache_clear()
        assert "the cache does not answer" in caplog.text
        assert "Traceback" not in caplog.text

    def test_may_be_any_number(self, api, lab, settings):
        settings.REQUESTS_PER_MINUTE = 0
        assert [api.get("/api/v2/dags?limit=0").status_code for _ in range(4)] == [200] * 4
