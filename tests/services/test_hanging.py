"""A sensor that never stops, whatever is raised in it, keeps no process from other work for long."""

import pytest

from tests.services.parts import ENGINE, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(180)]

DEFINITIONS = """
import time

from scheduling.sdk import DAG, CronPartitionTimetable, sensor, task


@sensor(every="2s", timeout="1s")
def hanging(look):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass


with DAG("every second", schedule=CronPartitionTimetable("* * * * * *")):

    @task
    def work():
        return None

    work()
"""
ONE = ("worker", "--queues", "work", "--workers", "1")
FAILED = "select failures, sentence from core_sensor where failures > 1"
DONE = "select count(*) from core_dagrun where state = 'success'"


def test_its_process_is_ended_and_it_looks_later_and_later(tmp_path, postgres_url, redis_url):
    (tmp_path / "hang.py").write_text(DEFINITIONS)
    environment = {
        "DATABASE_URL": postgres_url,
        "REDIS_URL": redis_url,
        "PARTITA_DEFINITIONS": str(tmp_path / "hang.py"),
    }
    parts = Parts(tmp_path, environment)
    try:
        parts.prepare()
        for name, command in {"engine": ENGINE, "work": ONE, "beat": ("beat",)}.items():
            parts.begin(name, command)
        parts.wait_for(lambda: parts.rows(FAILED), 90)
        [(_, sentence)] = parts.rows(FAILED)
        assert sentence == "the look had not ended 11 seconds after it began: its process is gone"
        [(before,)] = parts.rows(DONE)
        parts.wait_for(lambda: parts.rows(DONE)[0][0] > before, 30)
    finally:
        parts.end()
