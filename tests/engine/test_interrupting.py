"""A task is interrupted whatever it waits for, in the main thread of its process."""

import signal
import subprocess
import threading
import time
from datetime import timedelta

import pytest

from scheduling import timeouts
from scheduling.authoring.context import RunTimedOut

SOON = timedelta(milliseconds=50)


def spin():
    while True:
        pass


def swallow():
    """What `except Exception` does to a time-out."""
    while True:
        try:
            time.sleep(20)
        except Exception:
            continue


class TestInterrupting:
    @pytest.mark.parametrize(
        "task", [lambda: time.sleep(20), spin, swallow, lambda: subprocess.run(["sleep", "20"])]
    )
    def test_ends_whatever_it_waits_for(self, task):
        began = time.monotonic()
        with pytest.raises(RunTimedOut), timeouts.interrupting(SOON):
            task()
        assert time.monotonic() - began < 10

    @pytest.mark.parametrize("left", [timedelta(0), timedelta(days=-1)])
    def test_is_at_once_if_no_time_is_left(self, left):
        with pytest.raises(RunTimedOut), timeouts.interrupting(left):
            time.sleep(20)

    def test_ends_nothing_afterwards(self):
        with timeouts.interrupting(SOON):
            pass
        time.sleep(0.1)

    def test_of_nothing_never_happens(self):
        with timeouts.interrupting(None):
            time.sleep(0.1)

    def test_gives_the_alarm_back_to_whoever_had_it(self):
        """As this test's own time limit does, which must go on."""
        seconds, _ = signal.getitimer(signal.ITIMER_REAL)
        answer = signal.getsignal(signal.SIGALRM)
        with pytest.raises(RunTimedOut), timeouts.interrupting(SOON):
            time.sleep(20)
        assert signal.getsignal(signal.SIGALRM) is answer
        assert signal.getitimer(signal.ITIMER_REAL)[0] == pytest.approx(seconds, abs=5)

    def test_happens_in_the_main_thread_only(self):
        seen = []

        def work():
            with timeouts.interrupting(SOON):
                time.sleep(0.2)
                seen.append("whole")

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == ["whole"]
