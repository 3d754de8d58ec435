"""A sensor or a run that never stops, whatever is raised in it, keeps no process from other work for long."""

import pytest

from tests.services.parts import ENGINE, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(240)]

SENSOR = """
import time

from scheduling.sdk import sensor


@sensor(every="2s", timeout="1s")
def hanging(look):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""
RUN = """
import time

from scheduling.sdk import DAG, task

with DAG("hanging", run_timeout="3s", retries=1, retry_delay=0):

    @task
    def hang():
        while True:
            try:
                time.sleep(60)
            except BaseException:
                pass

    hang()
"""
OTHERS = """
from scheduling.sdk import DAG, CronPartitionTimetable, task

with DAG("every second", schedule=CronPartitionTimetable("* * * * * *")):

    @task
    def work():
        return None

    work()
"""
ONE = ("worker", "--queues", "work", "--workers", "1")
DONE = "select count(*) from core_dagrun where state = 'success'"
FAILED = "select failures, sentence from core_sensor where failures > 1"
ENDED = "select state, error, attempt, failures, losses from core_dagrun where run_type = 'manual' {}"
LOG = "select text from core_logline where attempt = 2 order by id"


@pytest.fixture
def parts(request, tmp_path, postgres_url, redis_url):
    """With what the test defines, and with a Dag that runs every second; nothing has begun yet."""
    definitions = tmp_path / "hang.py"
    definitions.write_text(request.param + OTHERS)
    with Parts(tmp_path, postgres_url, redis_url, definitions) as parts:
        parts.prepare()
        yield parts


def begin(parts):
    for name, command in {"engine": ENGINE, "work": ONE, "beat": ("beat",)}.items():
        parts.begin(name, command)


def wait_for_others(parts, seconds):
    [(before,)] = parts.rows(DONE)
    parts.wait_for(lambda: parts.rows(DONE)[0][0] > before, seconds)


@pytest.mark.parametrize("parts", [SENSOR], indirect=True, ids=["sensor"])
def test_the_process_of_a_look_is_ended_and_the_sensor_looks_later_and_later(parts):
    begin(parts)
    parts.wait_for(lambda: parts.rows(FAILED), 90)
    [(_, sentence)] = parts.rows(FAILED)
    assert sentence == "the look had not ended 11 seconds after it began: its process is gone"
    wait_for_others(parts, 30)


@pytest.mark.parametrize("parts", [RUN], indirect=True, ids=["run"])
def test_the_process_of_a_run_is_ended_and_it_is_tried_again_as_its_dag_says(parts):
    assert parts.popen("trigger", "hanging").wait(60) == 0
    begin(parts)
    parts.wait_for(lambda: parts.rows(ENDED.format("and state = 'failed'")), 120)
    wait_for_others(parts, 60)
    assert parts.rows(ENDED.format("")) == [("failed", "timed out after 3 seconds", 2, 1, 0)]
    assert parts.rows(LOG)[-1] == ("The run timed out after 3 seconds. Its task goes on all the same.",)
