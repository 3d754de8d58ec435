"""A Dag that listens, and who may change how."""

import pytest

from core.models import Dag
from partitions_site import roles
from tests.engine import world
from tests.sdk.writing import Directory, dag


@pytest.fixture
def row(tmp_path) -> Dag:
    """A Dag that waits for all hours of a day."""
    directory = Directory(tmp_path)
    directory.write(
        "c",
        """
        rollup = RollupMapper(StartOfDayMapper(), DayWindow())
        DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper=rollup))
        DAG("tick", schedule=CronPartitionTimetable("0 0 * * *"))
        """,
    )
    assert directory.sync().ok
    return dag("c")


@pytest.fixture
def admin(visitor_of):
    return visitor_of(roles.ADMIN)


@pytest.fixture
def days(row):
    """Three days of which one hour each is missing."""
    for day in (8, 9, 10):
        world.emit("a", *world.hours(f"2026-03-{day:02}", *range(23)))
    world.turn()
