"""The number of queries of a page does not grow with what it shows."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.models import DefinitionSource, HeldRun, SensorLook
from partitions_site import roles
from scheduling import backfills, journal, runs
from scheduling.algebra import specs
from scheduling.algebra.time_shorthands import HourlyPartitions
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, MINUTE, NOW, consumer, emit, hours, turn

pytestmark = pytest.mark.django_db

PAGES = {
    "/": 36,
    "/held": 23,
    "/dags": 14,
    "/dags/sum%200": 31,
    "/runs": 11,
    "/runs?state=queued": 11,
    "/assets/hourly": 21,
    "/assets/hourly?state=materialized": 23,
    "/assets/hourly?key=2026-03-10T01:00:00": 28,
    "/assets/hourly?tab=lineage": 25,
    "/backfills": 12,
    "/backfills/new?dag=write 0&run=all": 34,
    "/sensors": 10,
    "/sensors/look%200": 12,
    "/definitions": 11,
    "/journal": 11,
    "/health": 14,
}
"""Each page and the most queries it may need, sign-in, rights and health included."""


def grow(first: int, last: int) -> None:
    for number in range(first, last):
        source = DefinitionSource.objects.create(name=f"{number}.py", error="boom", loaded_at=NOW)
        problem = {"code": "x", "level": "error", "sentence": "wrong"}
        made = consumer(f"sum {number}", {"hourly": HOURS_TO_DAY}, writes=[f"daily {number}"])
        made.__class__.objects.filter(pk=made.pk).update(source=source, problems=[problem])
        consumer(f"copy {number}", {"hourly": IDENTITY})
        runs.trigger(world.dag(f"by hand {number}"), Ask(), deed=ALICE, at=NOW)
        writes = world.dag(f"write {number}", {"type": "PartitionedAtRuntime"}, writes=[f"out {number}"])
        backfills.start(backfills.Ask((writes,), keys=tuple(map(str, range(1 + last)))), deed=ALICE, at=NOW)
        looks = world.sensor(f"look {number}", source=source, failures=1)
        SensorLook.objects.create(sensor=looks, at=NOW, took=MINUTE, outcome="failed", sentence="boom")
        journal.note("dag paused", deed=ALICE, at=NOW, about=made)
    emit(
        "hourly",
        *(key for day in range(10, 10 + last) for key in hours(f"2026-03-{day}", *range(first, last))),
    )
    turn()


def queries(visitor: Client, address: str) -> int:
    visitor.get(address)  # what a process reads once, it has read now
    with CaptureQueriesContext(connection) as found:
        assert visitor.get(address).status_code == 200
    return len(found)


@pytest.fixture(scope="class")
def few(db_of_the_file):
    """How many queries each page needs for few rows; then there are many."""
    somebody = User.objects.create_user("somebody")
    somebody.groups.add(Group.objects.get(name=roles.OPERATOR))
    visitor = Client()
    visitor.force_login(somebody)
    with transaction.atomic():
        grow(0, 1)
        few = {address: queries(visitor, address) for address in PAGES}
        grow(1, 7)
        yield few
        transaction.set_rollback(True)


class TestEveryPage:
    @pytest.mark.parametrize(("address", "most"), PAGES.items(), ids=PAGES)
    def test_the_number_of_queries_is_constant(self, visitor, few, address, most):
        assert HeldRun.objects.held().count() > 10
        assert queries(visitor, address) == few[address] <= most


def test_a_backfill_of_many_keys_asks_no_more_than_one_of_few(visitor):
    counts = []
    for size in (2, 40):
        made = world.dag(f"write {size}", {"type": "PartitionedAtRuntime"}, writes=[f"out {size}"])
        ask = backfills.Ask((made,), keys=tuple(map(str, range(size))))
        address = f"/backfills/{backfills.start(ask, deed=ALICE, at=NOW).pk}"
        backfills.advance(now=NOW)
        visitor.get(address)
        with CaptureQueriesContext(connection) as found:
            assert visitor.get(address).status_code == 200
        counts.append(len(found))
    assert counts[0] == counts[1] <= 17


def test_a_part_costs_less_than_the_page(visitor):
    grow(0, 2)

    def queries(ask):
        ask()
        with CaptureQueriesContext(connection) as found:
            ask()
        return len(found)

    page = queries(lambda: visitor.get("/assets/hourly?key=2026-03-10T01:00:00"))
    panel = queries(lambda: visitor.part("/assets/hourly?key=2026-03-10T01:00:00", "panel"))
    board = queries(lambda: visitor.part("/assets/hourly?key=2026-03-10T01:00:00", "board"))
    assert max(panel, board) < page


def test_held_runs_that_lack_many_assets_ask_no_more_than_few(visitor):
    def queries(*numbers):
        for number in numbers:
            upstream(number)
            lacks = {f"ticked {number}": IDENTITY, f"seen {number}": IDENTITY}
            consumer(f"both {number}", {"hourly": IDENTITY} | lacks)
        emit("hourly", f"2026-03-10T0{len(numbers)}:00:00")
        turn()
        visitor.get("/held")
        with CaptureQueriesContext(connection) as found:
            assert visitor.get("/held").status_code == 200
        return len(found)

    assert queries(1) == queries(2, 3, 4, 5) <= 28


def upstream(number: int) -> None:
    """An asset that a tick makes, and one that comes regularly."""
    hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
    world.dag(
        f"ticks {number}", hourly, writes=[f"ticked {number}"], start_date=datetime(2026, 3, 1, tzinfo=UTC)
    )
    world.asset(
        f"seen {number}",
        partitions=specs.dump(HourlyPartitions(start="2026-03-01", key_format="%Y-%m-%dT%H:%M:%S")),
    )
    for hour in range(4):
        emit(f"seen {number}", *hours("2026-03-09", hour), at=datetime(2026, 3, 9, hour + 1, tzinfo=UTC))
