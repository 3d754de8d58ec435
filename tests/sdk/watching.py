"""Sensors of a definition file: loaded, looked with, and what they have reported."""

from core.models import AssetEvent, Sensor
from scheduling import sensors
from tests.sdk.writing import NOW, Directory

INBOX = """
    inbox = Asset("inbox")
    waiting = ["a", "b"]

    @sensor(every="30s")
    def new_files(look):
        '''Reports what has landed.'''
        for name in waiting:
            if name > look.cursor:
                look.report(inbox, name, extra={"seen": True}, idempotency_key=name)
                look.cursor = name
"""


def one(name: str = "new_files") -> Sensor:
    return Sensor.objects.get(name=name)


def turn(at=NOW) -> list[tuple[int, int]]:
    """Let every sensor that is due look; which did."""
    sent = sensors.dispatch(now=at)
    for pk, number in sent:
        sensors.look(pk, number, clock=lambda: at)
    return sent


def sync(directory: Directory, text: str, at=NOW):
    directory.write("watch", text)
    return directory.sync(at)


def keys(name: str = "inbox") -> list[str]:
    return list(
        AssetEvent.objects.filter(asset__name=name).order_by("pk").values_list("partition_key", flat=True)
    )
