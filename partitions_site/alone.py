"""One engine for each data directory: two would take each other's work."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FILE = "engine.lock"


class AlreadyRunning(Exception):
    """Another program holds the directory; the message is a sentence for people."""


@contextmanager
def sole_use(directory: Path) -> Iterator[None]:
    """Hold `directory` until the end of the block, or of this process however it comes.

    :raises AlreadyRunning: if another one holds it.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with (directory / FILE).open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise AlreadyRunning(
                f"Partita is running on {directory} already. "
                "Stop it, or choose another directory: ./partita up --data DIR"
            ) from error
        yield
