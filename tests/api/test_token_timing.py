"""How long a refusal takes tells nothing about how much of a token is right."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from knox.settings import CONSTANTS

from partitions_site import roles
from partitions_site.api import bearers
from partitions_site.models import ApiToken

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(user_of):
    _, token = ApiToken.objects.create(user=user_of(roles.VIEWER), expiry=None)
    return token


def wrong_at(token, place):
    other = "0" if token[place] != "0" else "1"
    return token[:place] + other + token[place + 1 :]


def secret_places(token):
    """The first, a middle and the last character of what nobody but its owner knows."""
    return [CONSTANTS.TOKEN_KEY_LENGTH, (CONSTANTS.TOKEN_KEY_LENGTH + len(token)) // 2, len(token) - 1]


def test_only_digests_are_compared_and_those_in_constant_time(anyone, token, monkeypatch):
    compared, compare = [], bearers.constant_time_compare

    def noted(one, other):
        compared.append((one, other))
        return compare(one, other)

    monkeypatch.setattr(bearers, "constant_time_compare", noted)
    for place in secret_places(token):
        answer = anyone.get("/api/v2/assets", HTTP_AUTHORIZATION=f"Bearer {wrong_at(token, place)}")
        assert answer.status_code in (401, 403)
    assert len(compared) == 3
    for kept, given in compared:
        assert len(kept) == len(given)
        assert token not in (kept, given)
        assert sum(one == other for one, other in zip(kept, given, strict=True)) < len(kept) / 2


def test_each_wrong_token_costs_the_same_statements(anyone, token):
    asked = []
    for place in secret_places(token):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            anyone.get("/api/v2/assets", HTTP_AUTHORIZATION=f"Bearer {wrong_at(token, place)}")
        asked.append([query["sql"] for query in queries])
    assert asked[0] == asked[1] == asked[2]
