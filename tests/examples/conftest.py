from datetime import UTC, datetime

import pytest

from scheduling import definitions


@pytest.fixture
def examples(settings, tmp_path):
    """The shipped definitions, loaded; what runs write goes to a directory of the test."""
    settings.DATA_DIR = tmp_path
    report = definitions.sync(["scheduling.examples"], at=datetime(2026, 3, 11, tzinfo=UTC))
    assert report.ok, report.troubles
    return report
