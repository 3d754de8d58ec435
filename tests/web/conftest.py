"""Somebody who has signed in, with a small world from the engine's own tests."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from partitions_site import roles
from scheduling.board import reading
from tests.backfills.play import producer
from tests.engine.world import emit


class Visitor(Client):
    """A browser: `part` asks as htmx does for one part of a page."""

    def part(self, address: str, target: str, **headers: str):
        return self.get(address, headers={"HX-Request": "true", "HX-Target": target, **headers})


@pytest.fixture(autouse=True)
def nothing_kept():
    """Another test's rows have the same numbers: what this process has kept of them is wrong now."""
    reading._kept.clear()


@pytest.fixture
def user_of(db):
    def user_of(role: str) -> User:
        user = User.objects.create_user(role, password=f"{role}-secret")
        user.groups.add(Group.objects.get(name=role))
        return user

    return user_of


@pytest.fixture
def visitor_of(user_of):
    def visitor_of(role: str) -> Visitor:
        visitor = Visitor()
        visitor.force_login(user_of(role))
        return visitor

    return visitor_of


@pytest.fixture
def visitor(visitor_of) -> Visitor:
    """An operator."""
    return visitor_of(roles.OPERATOR)


@pytest.fixture
def load(db):
    """A Dag that writes days; two of ten have data."""
    made = producer()
    emit("days", "2026-03-02", "2026-03-05")
    return made
