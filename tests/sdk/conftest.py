from pathlib import Path

import pytest

from tests.sdk.writing import Directory


@pytest.fixture
def directory(db: None, tmp_path: Path) -> Directory:
    return Directory(tmp_path)
