from collections.abc import Callable
from pathlib import Path

import pytest

from core.models import Dag
from tests.sdk.writing import LATER, Directory, dag


@pytest.fixture
def directory(db: None, tmp_path: Path) -> Directory:
    return Directory(tmp_path)


@pytest.fixture
def listen(directory: Directory) -> Callable[..., Dag]:
    """Let a file define the Dag `c`, listening to `assets` through `mapper`."""

    def listen(mapper: str = "IdentityMapper()", *, assets: str = 'Asset("a")', at=LATER, fits=True) -> Dag:
        directory.write(
            "c",
            f"""
            schedule = PartitionedAssetTimetable(assets={assets}, partition_mapper={mapper})
            with DAG("c", schedule=schedule):
                @task(outlets=[Asset("out")])
                def write():
                    pass
            """,
        )
        report = directory.sync(at)
        assert report.ok is fits, report.troubles
        return dag("c")

    return listen
