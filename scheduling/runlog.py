"""What a run prints and logs becomes rows, in small batches.

Standard output and the root logger belong to the process, runs to threads: what writes is asked which run its
thread is busy with.
"""

import logging
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Any, TextIO

from core.models import DagRun, LogLine

MOST_LINES = 20_000
"""Lines kept of one attempt: a task that never stops printing fills neither memory nor database."""

LONGEST_LINE = 10_000
BATCH = 500

Clock = Callable[[], datetime]


class RunLog:
    """The log of one attempt of a run. Lines wait here until somebody calls `flush`.

    The thread of the task never writes to the database: what it prints inside a transaction of its own would
    vanish with it.
    """

    def __init__(self, run: DagRun, clock: Clock) -> None:
        self._run, self._clock = run, clock
        self._lines: list[LogLine] = []
        self._count = 0
        self._adding, self._flushing = threading.Lock(), threading.Lock()

    def add(self, text: str, task_id: str = "") -> None:
        """Keep each line of `text`."""
        with self._adding:
            for line in text.splitlines() or [""]:
                self._count += 1
                if self._count <= MOST_LINES:
                    self._lines.append(self._line(line, task_id))
                elif self._count == MOST_LINES + 1:
                    self._lines.append(self._line(f"the log ends here, after {MOST_LINES} lines", task_id))

    def flush(self) -> None:
        """Store what waits. Two threads may flush; lines stay in order."""
        with self._flushing:
            with self._adding:
                waiting, self._lines = self._lines, []
            try:
                LogLine.objects.bulk_create(waiting, batch_size=BATCH)
            except BaseException:
                with self._adding:
                    self._lines = waiting + self._lines
                raise

    def _line(self, text: str, task_id: str) -> LogLine:
        return LogLine(
            run=self._run,
            attempt=self._run.attempt,
            task_id=task_id,
            at=self._clock(),
            text=storable(text[:LONGEST_LINE]),
        )


def storable(text: str) -> str:
    """`text` without the characters that a database cannot keep."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


@contextmanager
def capturing(log: RunLog, task_id: str) -> Iterator[None]:
    """What this thread prints and logs meanwhile goes to `log`, not to the console of the worker."""
    _install()
    lines = _Lines(log, task_id)
    token = _capture.set(lines)
    try:
        yield
    finally:
        _capture.reset(token)
        lines.close()


class _Lines:
    """Puts pieces of text together to lines."""

    def __init__(self, log: RunLog, task_id: str) -> None:
        self._log, self._task_id = log, task_id
        self._started, self._is_returned = "", False

    def write(self, text: str) -> None:
        if self._is_returned and text and not text.startswith("\n"):  # a bar that is drawn over itself
            self._end("")
        end = max(text.rfind("\n"), text.rfind("\r", 0, -1))
        if end >= 0:
            self._end(text[:end])
            text = text[end + 1 :]
        # No more than will be kept: one that never ends its line costs neither memory nor time.
        self._started += text[: LONGEST_LINE - len(self._started)]
        self._is_returned = text.endswith("\r") or (self._is_returned and not text)

    def say(self, message: str) -> None:
        """A message of its own, whatever line was begun."""
        self._log.add(message, self._task_id)

    def close(self) -> None:
        if self._started:
            self._log.add(self._started, self._task_id)

    def _end(self, text: str) -> None:
        self._log.add(self._started + text, self._task_id)
        self._started, self._is_returned = "", False


_capture: ContextVar[_Lines | None] = ContextVar("capture", default=None)


class _Stream:
    """Stands before a stream of the process and turns aside what a run writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        lines = _capture.get()
        if lines is None:
            return self._stream.write(text)
        lines.write(text)
        return len(text)

    def writelines(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Records(logging.Handler):
    """Turns log records of a run into lines of it."""

    def emit(self, record: logging.LogRecord) -> None:
        lines = _capture.get()
        if lines is not None:
            lines.say(self.format(record))


_records = _Records()
_records.setFormatter(logging.Formatter("{levelname} {name}: {message}", style="{"))


def _install() -> None:
    """Whoever replaced the streams since the last run gets ours in front of theirs."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, _Stream):
            setattr(sys, name, _Stream(stream))
    if _records not in logging.root.handlers:
        logging.root.addHandler(_records)
