from pathlib import Path

import pytest

from tests.sdk.writing import Directory


@pytest.fixture
def directory(db: None, tmp_path: Path) -> Directory:
    return Directory(tmp_path)


@pytest.fixture
def define(directory: Directory):
    """Load one file of definitions, all of which must be good."""

    def load(text: str) -> None:
        directory.write("talk", text)
        report = directory.sync()
        assert report.ok, report.troubles

    return load
