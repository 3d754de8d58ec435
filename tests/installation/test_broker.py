import os
import subprocess
import sys
import time
from pathlib import Path

from tests.servers import free_port

HOME = Path(__file__).parents[2]
RING = """
import django; django.setup()
import time
from scheduling import doorbell
began = time.monotonic()
doorbell.ring(doorbell.Bell.ROUTE)
print(time.monotonic() - began)
"""


def run(code: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ
        | {"DJANGO_SETTINGS_MODULE": "partitions_site.settings", "PARTITA_DATA_DIR": str(tmp_path)}
        | environment,
        cwd=HOME,
        capture_output=True,
        text=True,
    )


class TestBrokerThatIsAway:
    def test_a_bell_costs_its_ringer_no_time_and_no_error(self, tmp_path):
        """Events are recorded while Redis is away: the sweep finds them."""
        rung = run(RING, tmp_path, REDIS_URL=f"redis://127.0.0.1:{free_port()}/0")
        assert rung.returncode == 0, rung.stderr
        assert float(rung.stdout) < 3  # with retries it would be more than six
        assert "the next sweep will do it" in rung.stderr
        assert "Traceback" not in rung.stderr


class TestSeparateCommands:
    def test_the_embedded_engine_does_not_start_beside_a_broker(self, tmp_path):
        began = time.monotonic()
        refused = subprocess.run(
            [sys.executable, "manage.py", "engine"],
            env=os.environ | {"REDIS_URL": "redis://127.0.0.1:1/0", "PARTITA_DATA_DIR": str(tmp_path)},
            cwd=HOME,
            capture_output=True,
            text=True,
        )
        assert refused.returncode == 1
        assert "start `worker` and `beat` instead" in refused.stderr
        assert time.monotonic() - began < 20
