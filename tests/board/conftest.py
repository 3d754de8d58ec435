import pytest

from scheduling.board import reading


@pytest.fixture(autouse=True)
def nothing_kept():
    """Another test's rows have the same numbers: what this process has kept of them is wrong now."""
    reading._kept.clear()
