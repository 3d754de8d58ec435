from collections.abc import Iterator

import pytest

from tests.executors.receiver import Receiver, receiving
from tests.executors.sending import SECRET
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


@pytest.fixture
def define(directory: Directory, receiver):
    """Defines Dag `d`, whose runs go to the receiver; `more` is for the Dag, `hook` for the Webhook."""

    def define(more="", hook="", url=""):
        directory.write(
            "a",
            f"""
            DAG("d", schedule=PartitionedAtRuntime(), outlets=[Asset("out"), Asset("aside")],
                executor=Webhook("{url or receiver.url}", secret="{SECRET}"{hook}){more})
            """,
        )
        report = directory.sync()
        assert report.ok, report.troubles

    return define
