"""Waits for what others do at the same time, and not for ever."""

import time
from collections.abc import Callable


def wait_for(question: Callable[[], object], seconds: float = 10, *, or_else: str = "") -> None:
    """Until `question` is answered with something true; a failure that says `or_else` where it never is."""
    deadline = time.monotonic() + seconds
    while not question():
        assert time.monotonic() < deadline, or_else or f"it did not happen within {seconds} s"
        time.sleep(0.005)
