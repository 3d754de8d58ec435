"""A web process is ready before its first request, and collections of garbage leave what it loaded alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAYS = "import {0}, gc, sys; print('partitions_site.web.urls' in sys.modules, gc.get_freeze_count() > 50_000)"


@pytest.mark.parametrize("face", ["asgi", "wsgi"])
def test_what_requests_need_is_loaded_and_left_alone(face, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", SAYS.format(f"partitions_site.{face}")],
        env=os.environ | {"PARTITA_DATA_DIR": str(tmp_path)},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert ended.stdout.split() == ["True", "True"], ended.stderr
