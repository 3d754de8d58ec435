import stat
import subprocess
import sys

import pytest

from partitions_site.environment import WrongSetting
from partitions_site.secret import kept_secret


class TestKeptSecret:
    def test_is_made_once_and_kept(self, tmp_path):
        path = tmp_path / "new" / "secret_key"
        first = kept_secret(path)
        assert len(first) >= 50
        assert kept_secret(path) == first

    def test_differs_between_installations(self, tmp_path):
        assert kept_secret(tmp_path / "a") != kept_secret(tmp_path / "b")

    def test_only_its_owner_may_read_it(self, tmp_path):
        kept_secret(tmp_path / "secret_key")
        assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600

    def test_a_directory_that_cannot_be_used_is_said_in_a_sentence(self, tmp_path):
        (tmp_path / "file").touch()
        with pytest.raises(WrongSetting, match=f"^The data directory {tmp_path}/file cannot be used: "):
            kept_secret(tmp_path / "file" / "secret_key")

    def test_processes_that_start_together_agree(self, tmp_path):
        path = tmp_path / "secret_key"
        code = (
            "import pathlib, sys; from partitions_site.secret import kept_secret;"
            "print(kept_secret(pathlib.Path(sys.argv[1])))"
        )
        command = [sys.executable, "-c", code, str(path)]
        started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
        assert len({child.communicate()[0] for child in started}) == 1
        assert [found.name for found in tmp_path.iterdir()] == ["secret_key"]
