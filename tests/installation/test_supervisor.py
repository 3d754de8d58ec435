"""The supervisor with real children: small Python programs that write down what happens to them."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from partitions_site import supervisor
from partitions_site.supervisor import Child, ChildKeepsEnding, supervise
from tests.waiting import wait_for

POLITE = """
import os, signal, sys, time
from partitions_site import lifeline
lifeline.hold()
def end(*_):
    open(sys.argv[1], "a").write("ended\\n")
    sys.exit()
signal.signal(signal.SIGTERM, end)
open(sys.argv[1], "a").write(f"{os.getpid()}\\n")
while True:
    time.sleep(0.02)
"""
STUBBORN = POLITE.replace("def end(*_):", "def end(*_):\n    return")


def child(code: str, notes: Path) -> Child:
    return Child("polite", [sys.executable, "-c", code, str(notes)])


def lines(notes: Path) -> list[str]:
    return notes.read_text().split() if notes.exists() else []


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"


def interrupt_when(question: Callable[[], object], times: int = 1) -> None:
    """Press Ctrl-C, as a terminal would, once `question` is answered with yes."""

    def press() -> None:
        wait_for(question)
        for _ in range(times):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.3)

    threading.Thread(target=press, daemon=True).start()


class TestSupervise:
    def test_an_interrupt_ends_every_child_in_good_order(self, tmp_path):
        notes = [tmp_path / "a", tmp_path / "b"]
        interrupt_when(lambda: all(lines(note) for note in notes))
        supervise([child(POLITE, note) for note in notes])
        assert [lines(note)[1] for note in notes] == ["ended", "ended"]
        assert not any(is_alive(int(lines(note)[0])) for note in notes)

    def test_a_child_that_dies_is_started_again(self, tmp_path):
        notes = tmp_path / "notes"

        def kill_once() -> None:
            wait_for(lambda: lines(notes))
            os.kill(int(lines(notes)[0]), signal.SIGKILL)

        threading.Thread(target=kill_once, daemon=True).start()
        interrupt_when(lambda: len(lines(notes)) == 2)
        supervise([child(POLITE, notes)])
        first, second, last = lines(notes)
        assert first != second
        assert last == "ended"

    def test_a_child_that_does_not_end_is_killed_after_the_grace(self, tmp_path):
        notes = tmp_path / "notes"
        interrupt_when(lambda: lines(notes))
        supervise([child(STUBBORN, notes)], grace=0.5)
        assert not is_alive(int(lines(notes)[0]))

    def test_a_second_interrupt_does_not_wait_for_the_grace(self, tmp_path):
        notes = tmp_path / "notes"
        interrupt_when(lambda: lines(notes), times=2)
        began = time.monotonic()
        supervise([child(STUBBORN, notes)], grace=60)
        assert time.monotonic() - began < 20
        assert not is_alive(int(lines(notes)[0]))

    def test_killing_takes_what_the_child_has_started(self, tmp_path):
        notes, grandchild = tmp_path / "notes", tmp_path / "grandchild"
        start = (
            f"import subprocess; subprocess.Popen([sys.executable, '-c', {STUBBORN!r}, {str(grandchild)!r}])"
        )
        interrupt_when(lambda: lines(grandchild) and lines(notes))
        supervise([child(STUBBORN.replace("while True", f"{start}\nwhile True"), notes)], grace=0.3)
        wait_for(lambda: not is_alive(int(lines(grandchild)[0])))

    def test_gives_up_on_a_child_that_cannot_live_and_stops_the_others(self, tmp_path, monkeypatch):
        monkeypatch.setattr(supervisor, "SHORT_LIVES", 2)
        notes = tmp_path / "notes"
        broken = Child("broken", [sys.executable, "-c", "raise SystemExit(3)"])
        with pytest.raises(
            ChildKeepsEnding, match="broken ended 2 times soon after its start, last with code 3"
        ):
            supervise([child(POLITE, notes), broken])
        assert lines(notes)[1:] == ["ended"]

    def test_gives_the_signals_back(self, tmp_path):
        before = signal.getsignal(signal.SIGTERM)
        notes = tmp_path / "notes"
        interrupt_when(lambda: lines(notes))
        supervise([child(POLITE, notes)])
        assert signal.getsignal(signal.SIGTERM) is before


class TestLifeline:
    def test_a_child_ends_when_its_supervisor_is_killed(self, tmp_path):
        notes = tmp_path / "notes"
        code = (
            "import sys; from partitions_site.supervisor import Child, supervise;"
            "supervise([Child('polite', [sys.executable, '-c', *sys.argv[1:]])])"
        )
        parent = subprocess.Popen([sys.executable, "-c", code, POLITE, str(notes)])
        wait_for(lambda: lines(notes))
        parent.kill()
        parent.wait()
        wait_for(lambda: lines(notes)[1:] == ["ended"])

    def test_a_program_without_a_supervisor_runs_as_ever(self, tmp_path):
        notes = tmp_path / "notes"
        alone = subprocess.Popen([sys.executable, "-c", POLITE, str(notes)])
        wait_for(lambda: lines(notes))
        time.sleep(0.2)
        assert alone.poll() is None
        alone.terminate()
        assert alone.wait() == 0
