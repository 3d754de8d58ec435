import pytest

from core import counting
from tests.engine import overdue_day, world
from tests.engine.attempting import Attempts
from tests.sdk.writing import LATER, Directory


@pytest.fixture
def directory(tmp_path) -> Directory:
    return Directory(tmp_path)


@pytest.fixture
def listen(directory):
    """Define the Dag `c` anew, listening to `assets` through `mapper`, and let the engine turn."""

    def listen(mapper: str, *, assets: str = 'Asset("a")', at=LATER, fits=True) -> None:
        directory.write(
            "c",
            f"""DAG("c", schedule=PartitionedAssetTimetable(assets={assets}, partition_mapper={mapper}))""",
        )
        report = directory.sync(at)
        assert report.ok is fits, report.troubles
        world.turn(at)

    return listen


@pytest.fixture
def attempts():
    return Attempts()


@pytest.fixture
def always_folds(monkeypatch):
    """Counts are added up however few there are."""
    monkeypatch.setattr(counting, "FEW", 0)


@pytest.fixture
def ingest(db):
    """The Dag that makes the hours of `overdue_day`."""
    return overdue_day.ingest()


@pytest.fixture
def day(ingest):
    """The held run of `overdue_day`, two of whose hours will be late."""
    return overdue_day.held()
