"""`partita tokens`."""

import pytest
from django.contrib.auth.models import User
from rest_framework.test import APIClient

from core.models import JournalEntry
from partitions_site.models import ApiToken

pytestmark = pytest.mark.django_db


@pytest.fixture
def eve(db):
    return User.objects.create(username="eve")


class TestTokens:
    def test_one_is_made_and_works(self, partita, eve):
        secret = partita("tokens", "make", "eve", "prometheus", "--days", "30", "--by", "ann").strip()
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        assert client.get("/metrics").status_code == 200
        entry = JournalEntry.objects.get()
        assert (entry.event, entry.by, entry.via) == ("token made", "ann", "cli")
        assert (entry.extra["owner"], entry.extra["scope"]) == ("eve", "read")

    def test_all_are_listed_without_themselves(self, partita, eve):
        secret = partita("tokens", "make", "eve", "prometheus").strip()
        [row] = partita("tokens", as_json=True)
        assert (row["owner"], row["name"], row["scope"]) == ("eve", "prometheus", "read")
        assert secret not in partita("tokens")
        User.objects.create(username="bob")
        assert partita("tokens", "--owner", "bob") == "There are no such tokens.\n"

    def test_one_is_revoked(self, partita, refused, eve):
        partita("tokens", "make", "eve", "prometheus")
        key = ApiToken.objects.get().token_key
        assert partita("tokens", "revoke", key) == "prometheus of eve is revoked\n"
        assert not ApiToken.objects.exists()
        assert "no token begins with" in refused("tokens", "revoke", key)

    def test_of_nobody_there_is_none(self, refused, db):
        assert refused("tokens", "make", "nobody", "x") == "partita: no login is called nobody\n"
