"""What an event costs, from the report to the run, is the same however much is there already."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from scheduling import holds
from tests.engine.world import HOURS_TO_DAY, IDENTITY, MINUTE, NOW, consumer, emit, fired, hours, turn

pytestmark = pytest.mark.django_db

FEW, MANY = 40, 1500
ROWS_READ = "SELECT sum(seq_tup_read) + sum(idx_tup_fetch) FROM pg_stat_xact_user_tables"
STEPS = 10
"""Steps of the machine that executes SQLite's statements are counted by so many at a time."""


@contextmanager
def work_of_the_database() -> Iterator[Callable[[], int]]:
    """The rows that PostgreSQL has read since, or the steps that SQLite has taken."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            # So few rows would often be read as a whole; of a million, that would be the wrong plan.
            cursor.execute("SET LOCAL enable_seqscan = off")
        before = rows_read()
        yield lambda: rows_read() - before
        return
    taken = [0]

    def step() -> int:
        taken[0] += STEPS
        return 0

    connection.connection.set_progress_handler(step, STEPS)
    try:
        yield lambda: taken[0]
    finally:
        connection.connection.set_progress_handler(None, 0)


def rows_read() -> int:
    with connection.cursor() as cursor:
        cursor.execute(ROWS_READ)
        return int(cursor.fetchone()[0])


def let_it_be_known() -> None:
    """PostgreSQL plans by what it knows of its tables; elsewhere it looks at them by and by."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE")


def fill(count: int) -> None:
    """So many held runs that wait, as many that fired, and the events and partitions of all of them."""
    emit("a", *(f"waits{number}" for number in range(count)))
    emit("a", *(f"fired{number}" for number in range(count)))
    emit("b", *(f"fired{number}" for number in range(count)))
    emit("c", *(f"{number}" for number in range(count)))
    turn()
    let_it_be_known()


@pytest.fixture
def cost(db):
    """What it costs to report `keys` of an asset and to do all that follows."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    consumer("copy", {"c": IDENTITY})
    consumer("daily", {"hourly": HOURS_TO_DAY})

    def of(name: str, *keys: str) -> int:
        with work_of_the_database() as taken:
            emit(name, *keys, at=NOW + MINUTE)
            turn(NOW + MINUTE)
            return taken()

    return of


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("a", "waits, too", "and this one"),
        ("b", "waits0", "waits1"),
        ("c", "once", "more"),
        ("a", "fired0", "fired1"),
    ],
    ids=["opens a held run", "fires one", "is enough alone", "comes late"],
)
def test_is_the_same_beside_few_and_many(cost, name, first, second):
    fill(FEW)
    cost(name, "whatever is read once is read now")
    beside_few = cost(name, first)
    fill(MANY)
    beside_many = cost(name, second)
    assert beside_few > 0
    assert beside_many < 1.3 * beside_few + 50, (beside_few, beside_many)


def test_to_judge_many_costs_as_many_queries_as_few():
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})

    def queries(count: int, made: str) -> int:
        keys = [f"{made}{number}" for number in range(count)]
        for name in ("a", "b"):
            emit(name, *keys)
        while holds.route_pending(now=NOW, at_once=0):
            pass
        with CaptureQueriesContext(connection) as found:
            assert holds.judge_due(now=NOW) == count
        return len(found)

    assert queries(5, "few") == queries(200, "many")


def test_of_a_rollup_does_not_grow_with_other_days(cost):
    def day_of(number):
        return f"20{number:02}-01-01"

    for number in range(10, 12):
        emit("hourly", *hours(day_of(number), *range(23)))
    turn()
    let_it_be_known()
    cost("hourly", *hours("2000-01-01", 1))
    beside_few = cost("hourly", *hours(day_of(10), 23))
    for number in range(12, 60):
        emit("hourly", *hours(day_of(number), *range(23)))
    turn()
    let_it_be_known()
    beside_many = cost("hourly", *hours(day_of(11), 23))
    assert fired("daily") == [day_of(10), day_of(11)]
    assert beside_many < 1.3 * beside_few + 50, (beside_few, beside_many)
