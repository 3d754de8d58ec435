"""Points at which a test may have this process killed, as a machine may go at any moment.

`PARTITA_FAULT=judging:3` kills the process by SIGKILL when it passes the point `judging` for the third time;
with `PARTITA_FAULT=judging:3:/tmp/once` only the first process that gets there, which leaves that file. Each
point is where the most would be lost: `mapping` and `judging`, before what was done is committed;
`executing`, after a task has worked and nothing is recorded; `emitting`, before the end of a run and its
events are committed. Unset, as it is outside of tests, a point is a call of a function that does nothing.
"""

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

POINTS = ("mapping", "judging", "executing", "emitting")


class Fault:
    """One armed fault: the point, how often it is passed before it strikes, and the file that it leaves."""

    def __init__(self, text: str) -> None:
        point, times, *path = text.split(":")
        if point not in POINTS:
            raise ValueError(f"PARTITA_FAULT names {point!r}, which is none of {', '.join(POINTS)}")
        self.point, self.left = point, int(times)
        self.path = Path(path[0]) if path else None
        self._lock = threading.Lock()

    def passing(self, point: str) -> None:
        if point == self.point:
            with self._lock:
                self.left -= 1
                strikes = self.left == 0 and self._is_first()
            if strikes:
                os.kill(os.getpid(), signal.SIGKILL)

    def _is_first(self) -> bool:
        if self.path is None:
            return True
        try:
            self.path.touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def _nothing(point: str) -> None:
    pass


passing: Callable[[str], None] = Fault(settings.FAULT).passing if settings.FAULT else _nothing
