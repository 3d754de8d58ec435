"""A run that never stops, whatever is raised in it, keeps no process from other runs for long."""

import pytest

from tests.services.parts import ENGINE, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(240)]

DEFINITIONS = """
import time

from scheduling.sdk import DAG, CronPartitionTimetable, task

with DAG("hanging", run_timeout="3s", retries=1, retry_delay=0):

    @task
    def hang():
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass

    hang()

with DAG("every second", schedule=CronPartitionTimetable("* * * * * *")):

    @task
    def work():
        return None

    work()
"""
ONE = ("worker", "--queues", "work", "--workers", "1")
ENDED = "select state, error, attempt, failures, losses from core_dagrun where run_type = 'manual' {}"
DONE = "select count(*) from core_dagrun where state = 'success'"
LOG = "select text from core_logline where attempt = 2 order by id"


def test_its_process_is_ended_and_it_is_tried_again_as_its_dag_says(tmp_path, postgres_url, redis_url):
    (tmp_path / "hang.py").write_text(DEFINITIONS)
    environment = {
        "DATABASE_URL": postgres_url,
        "REDIS_URL": redis_url,
        "PARTITA_DEFINITIONS": str(tmp_path / "hang.py"),
    }
    parts = Parts(tmp_path, environment)
    try:
        parts.prepare()
        assert parts.popen("trigger", "hanging").wait(60) == 0
        for name, command in {"engine": ENGINE, "work": ONE, "beat": ("beat",)}.items():
            parts.begin(name, command)
        parts.wait_for(lambda: parts.rows(ENDED.format("and state = 'failed'")), 120)
        [(before,)] = parts.rows(DONE)
        parts.wait_for(lambda: parts.rows(DONE)[0][0] > before, 60)
        assert parts.rows(ENDED.format("")) == [("failed", "timed out after 3 seconds", 2, 1, 0)]
        assert parts.rows(LOG)[-1] == ("The run timed out after 3 seconds. Its task goes on all the same.",)
    finally:
        parts.end()
