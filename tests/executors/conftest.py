from collections.abc import Iterator

import pytest

from tests.executors.receiver import Receiver, receiving
from tests.sdk.writing import Directory


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    """A server on this machine, which webhooks may call."""
    settings.WEBHOOK_NETWORKS = ["127.0.0.0/8"]
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def directory(tmp_path) -> Directory:
    return Directory(tmp_path)
