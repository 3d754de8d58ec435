"""Keeps a few commands running in the foreground, and takes them all along when it goes.

Children live in sessions of their own: Ctrl-C in a terminal reaches the supervisor only, and it stops them
in good order. Each child holds the reading end of a pipe, so that a supervisor which was killed takes its
children along too (see `lifeline`).
"""

import logging
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from partitions_site import lifeline

logger = logging.getLogger(__name__)

GRACE_SECONDS = 15.0
POLL_SECONDS = 0.1
SHORT_LIFE_SECONDS = 10.0
SHORT_LIVES = 5


class ChildKeepsEnding(Exception):
    """A child ended again and again soon after it was started."""


@dataclass(slots=True)
class Child:
    """One command that is started again whenever it ends."""

    name: str
    command: Sequence[str]
    running: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    restart: float | None = None
    short_lives: int = 0

    def start(self, lifeline_fd: int) -> None:
        self.started, self.restart = time.monotonic(), None
        self.running = subprocess.Popen(
            self.command,
            start_new_session=True,
            pass_fds=[lifeline_fd],
            env=os.environ | {lifeline.VARIABLE: str(lifeline_fd)},
        )

    def is_running(self) -> bool:
        return self.running is not None and self.running.poll() is None

    def look_after(self, lifeline_fd: int) -> None:
        """Start the child again if it has ended, after a pause that grows with each short life.

        :raises ChildKeepsEnding: after five short lives in a row.
        """
        if self.is_running():
            return
        if self.restart is None:
            self._count_life()
            self.restart = time.monotonic() + 0.5 * 2**self.short_lives
            logger.error("%s ended with code %s; starting it again", self.name, self._exit_code())
        elif time.monotonic() >= self.restart:
            self.start(lifeline_fd)

    def terminate(self) -> None:
        if self.running and self.is_running():
            self.running.terminate()

    def kill(self) -> None:
        """Kill the child with all that it started: they share its session."""
        if self.running and self.is_running():
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def _count_life(self) -> None:
        lived = time.monotonic() - self.started
        self.short_lives = self.short_lives + 1 if lived < SHORT_LIFE_SECONDS else 0
        if self.short_lives >= SHORT_LIVES:
            code = self._exit_code()
            raise ChildKeepsEnding(
                f"{self.name} ended {SHORT_LIVES} times soon after its start, last with code {code}"
            )

    def _exit_code(self) -> int | None:
        return self.running.poll() if self.running else None


@dataclass(slots=True)
class StopSignals:
    """What the terminal has asked for: once is a request, twice is an order."""

    asked: threading.Event = field(default_factory=threading.Event)
    insisted: threading.Event = field(default_factory=threading.Event)

    def note(self, *_: object) -> None:
        (self.insisted if self.asked.is_set() else self.asked).set()


def supervise(children: Sequence[Child], *, grace: float = GRACE_SECONDS) -> None:
    """Run `children` until SIGINT or SIGTERM, then stop them; `grace` is in seconds.

    A second signal does not wait for them. All of them are stopped as well when one cannot be kept running.

    :raises ChildKeepsEnding: see `Child.look_after`.
    """
    reading, writing = os.pipe()
    with _stop_signals() as stop:
        try:
            for child in children:
                child.start(reading)
            while not stop.asked.wait(POLL_SECONDS):
                for child in children:
                    child.look_after(reading)
        finally:
            _stop(children, stop, grace)
            os.close(writing)
            os.close(reading)


def _stop(children: Sequence[Child], stop: StopSignals, grace: float) -> None:
    for child in children:
        child.terminate()
    deadline = time.monotonic() + grace
    while any(child.is_running() for child in children) and time.monotonic() < deadline:
        if stop.insisted.wait(POLL_SECONDS):
            break
    for child in children:
        child.kill()


@contextmanager
def _stop_signals() -> Iterator[StopSignals]:
    stop = StopSignals()
    before = {number: signal.signal(number, stop.note) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, disposition in before.items():
            signal.signal(number, disposition)
