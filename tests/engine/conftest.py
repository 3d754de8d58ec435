import pytest

from tests.engine.attempting import Attempts
from tests.sdk.writing import Directory


@pytest.fixture
def directory(tmp_path) -> Directory:
    return Directory(tmp_path)


@pytest.fixture
def attempts():
    return Attempts()
