"""A file that says when a process was last well, for whoever looks after processes from outside."""

from pathlib import Path
from typing import Any

from celery.signals import after_task_publish
from django.conf import settings


def touch(**of_a_signal: Any) -> None:
    """Say that this process is well now; nothing where nobody asks for it (`PARTITA_ALIVE_FILE`)."""
    if settings.ALIVE_FILE:
        Path(settings.ALIVE_FILE).touch()


def touch_with_every_message() -> None:
    """For a process that sends messages all the time, and is well as long as it can."""
    after_task_publish.connect(touch)
