"""Rings through a real Redis: one message for a burst of them, and none that is needed is left out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import free_port

pytestmark = pytest.mark.redis
HOME = Path(__file__).parents[2]

BEGIN = """
import django; django.setup()
import json, time, redis
from django.conf import settings
from scheduling import doorbell
from scheduling.doorbell import Bell
server = redis.Redis.from_url("{redis}")
def under_way():
    return server.llen("partita:engine")
said = []
"""

POST = """
from django.core.management import call_command
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from rest_framework.test import APIClient
from core.models import Asset, AssetEvent
call_command("migrate", verbosity=0)
asset = Asset.objects.create(name="a", uri="a", created_at=timezone.now(), updated_at=timezone.now())
client = APIClient(HTTP_HOST="localhost")
client.force_authenticate(User.objects.create_superuser("root"))
began = time.monotonic()
answer = client.post("/api/v2/assets/events", {"asset_id": asset.pk, "partition_key": "k"})
said += [answer.status_code, AssetEvent.objects.count(), time.monotonic() - began < 5]
"""


def run(code: str, tmp_path: Path, redis_url: str, **environment: str) -> tuple[list, str]:
    """What the code has put into `said`, and what it wrote to the log."""
    ours = {
        "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
        "PARTITA_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "",
        "REDIS_URL": redis_url,
        "PARTITA_SWEEP_SECONDS": "1",
    }
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN.replace("{redis}", redis_url) + code + "\nprint(json.dumps(said))"],
        env=os.environ | ours | environment,
        cwd=HOME,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1]), ended.stderr


class TestBurst:
    def test_is_one_message_for_each_bell(self, tmp_path, redis_url):
        code = """
for _ in range(50):
    doorbell.ring(Bell.ROUTE)
    doorbell.ring(Bell.JUDGE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [2]

    def test_is_over_when_somebody_looks(self, tmp_path, redis_url):
        """What was rung before the look is seen by it; what is rung after is worth another."""
        code = """
doorbell.ring(Bell.ROUTE)
doorbell.heard(Bell.ROUTE)
for _ in range(3):
    doorbell.ring(Bell.ROUTE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [2]

    def test_whose_message_got_lost_costs_one_sweep(self, tmp_path, redis_url):
        code = """
doorbell.ring(Bell.ROUTE)
server.delete("partita:engine")
doorbell.ring(Bell.ROUTE)
said.append(under_way())
time.sleep(1.1)
doorbell.ring(Bell.ROUTE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [0, 1]

    def test_is_forgotten_with_all_else_that_redis_forgets(self, tmp_path, redis_url):
        code = """
doorbell.ring(Bell.ROUTE)
server.flushall()
doorbell.ring(Bell.ROUTE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [1]

    def test_of_several_processes_is_one_message(self, tmp_path, redis_url):
        for _ in range(2):
            code = "doorbell.ring(Bell.ROUTE); said.append(under_way())"
            assert run(code, tmp_path, redis_url, PARTITA_SWEEP_SECONDS="600")[0] == [1]

    def test_is_ended_by_the_task_that_looks(self, tmp_path, redis_url):
        code = """
from django.core.management import call_command
from scheduling import tasks
call_command("migrate", verbosity=0)
doorbell.ring(Bell.ROUTE); doorbell.ring(Bell.START); doorbell.ring(Bell.JUDGE)
said.append(under_way())
tasks.route_events(); tasks.start_runs(); tasks.judge_held_runs()
doorbell.ring(Bell.ROUTE); doorbell.ring(Bell.START); doorbell.ring(Bell.JUDGE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [3, 6]

    def test_without_a_shared_cache_is_as_many_messages_as_rings(self, tmp_path, redis_url):
        """With flags of its own, a process would not learn that a worker has looked."""
        code = """
settings.REDIS_URL = ""
for _ in range(3):
    doorbell.ring(Bell.ROUTE)
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url, CELERY_BROKER_URL=redis_url)[0] == [3]


class TestTransaction:
    def test_that_is_undone_rings_nothing(self, tmp_path, redis_url):
        code = """
from django.db import transaction
try:
    with transaction.atomic():
        doorbell.ring(Bell.ROUTE)
        said.append(under_way())
        raise KeyError
except KeyError:
    said.append(under_way())
with transaction.atomic():
    doorbell.ring(Bell.ROUTE)
    said.append(under_way())
said.append(under_way())
"""
        assert run(code, tmp_path, redis_url)[0] == [0, 0, 0, 1]


class TestRedisThatIsAway:
    def test_fails_no_request_that_recorded_something(self, tmp_path):
        said, log = run(POST, tmp_path, f"redis://127.0.0.1:{free_port()}/0")
        assert said == [200, 1, True], log
        assert "the next sweep will do it" in log
        assert "Traceback" not in log

    def test_and_comes_back_is_rung_again_at_once(self, tmp_path, redis_url):
        """A ring that nobody could hear leaves no flag up that would silence the next one."""
        code = """
from celery import current_app
current_app.conf.broker_url = "redis://127.0.0.1:1/0"
doorbell.ring(Bell.ROUTE)
said.append(len(server.keys("*rung*")))
"""
        assert run(code, tmp_path, redis_url)[0] == [0]
