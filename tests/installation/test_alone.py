import subprocess
import sys

import pytest

from partitions_site.alone import AlreadyRunning, sole_use

HOLD = """
import pathlib, sys
from partitions_site.alone import sole_use
with sole_use(pathlib.Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    started = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout.readline() == "held\n"
    yield started
    started.kill()
    started.wait()


class TestSoleUse:
    def test_is_refused_with_a_sentence_while_another_process_has_it(self, tmp_path, holder):
        with pytest.raises(AlreadyRunning, match=f"running on {tmp_path} already"), sole_use(tmp_path):
            pytest.fail("two engines on one directory")

    def test_comes_free_when_the_holder_is_killed(self, tmp_path, holder):
        holder.kill()
        holder.wait()
        with sole_use(tmp_path):
            pass

    def test_other_directories_are_free(self, tmp_path, holder):
        with sole_use(tmp_path / "another"):
            assert (tmp_path / "another").is_dir()

    def test_can_be_had_again_after_the_block(self, tmp_path):
        for _ in range(2):
            with sole_use(tmp_path):
                pass
