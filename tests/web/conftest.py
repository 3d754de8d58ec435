"""Somebody who has signed in, with a small world from the engine's own tests."""

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from partitions_site import roles
from scheduling import runs
from scheduling.algebra import specs
from scheduling.board import reading
from scheduling.runs import Ask
from scheduling.sdk import HourlyPartitions, MultiPartitions, StaticPartitions
from tests.backfills.play import producer
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn
from tests.web.selected import fail, trigger


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


@pytest.fixture
def day(db):
    """A day that waits for hours 09, 11 and 22."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *hours("2026-03-10", *(n for n in range(24) if n not in (9, 11, 22))))
    turn()
    return world.held("sum", "2026-03-10")


@pytest.fixture
def temperatures(db):
    """A year of two cities, with the hour that never was and without the one that was."""
    year = {"start": "2010-01-01", "end": "2011-01-01", "timezone": "America/Los_Angeles"}
    hour = HourlyPartitions(**year, key_format="%Y-%m-%dT%H:%M:%S")
    definition = MultiPartitions({"city": StaticPartitions(["seattle", "sf"]), "hour": hour})
    made = asset("hourly", partitions=specs.dump(definition))
    emit("hourly", *(f"seattle|{key}" for key in hours("2010-03-14", *(n for n in range(24) if n != 3))))
    return made


@pytest.fixture
def failed(db):
    """Two failed runs of one Dag and one of another."""
    return fail(*trigger("nightly", "2026-03-01", "2026-03-02"), *trigger("report", "2026-03"))


@pytest.fixture
def queued(failed):
    return trigger("nightly", "2026-03-03")[0]


@pytest.fixture
def run(db):
    """One that is queued, of a Dag that names its keys as it runs."""
    made = world.dag("nightly", {"type": "PartitionedAtRuntime"}, writes=["daily"])
    return runs.trigger(made, Ask("2026-03-09", conf={"city": "Žalec"}), deed=ALICE, at=NOW)
