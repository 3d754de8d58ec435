"""A web process is ready before its first request, and collections of garbage leave what it loaded alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WEB = "import partitions_site.{}, gc, sys; print('partitions_site.web.urls' in sys.modules, {})"
WORKER = """
import django, gc
django.setup()
from django.core.management import call_command
from partitions_site.celery import app
app.worker_main = lambda arguments: print('scheduling.route_events' in app.tasks, {})
call_command('worker')
"""
IS_LEFT_ALONE = "gc.get_freeze_count() > 50_000 and gc.get_threshold()[0] > 10_000"


@pytest.mark.parametrize(
    "program",
    [WEB.format("asgi", IS_LEFT_ALONE), WEB.format("wsgi", IS_LEFT_ALONE), WORKER.format(IS_LEFT_ALONE)],
    ids=["asgi", "wsgi", "worker"],
)
def test_what_is_needed_is_loaded_and_left_alone(program, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ
        | {"PARTITA_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "partitions_site.settings"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert ended.stdout.split() == ["True", "True"], ended.stderr
