import pytest

from tests.sdk.writing import Directory


@pytest.fixture
def directory(tmp_path) -> Directory:
    return Directory(tmp_path)
