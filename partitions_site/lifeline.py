"""A child of the supervisor ends when the supervisor is gone, even if nobody could tell it."""

import os
import signal
import threading
import time

VARIABLE = "PARTITA_LIFELINE"
GRACE_SECONDS = 15.0


def hold() -> None:
    """End this process when the pipe named in the environment closes; without one, do nothing."""
    fd = os.environ.pop(VARIABLE, "")
    if fd:
        threading.Thread(target=_wait, args=(int(fd),), name="lifeline", daemon=True).start()


def _wait(fd: int) -> None:
    os.read(fd, 1)  # returns only when the other end is closed: nobody ever writes
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    if os.getpgid(0) == os.getpid():
        os.killpg(0, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
