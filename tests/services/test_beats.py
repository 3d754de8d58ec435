"""Beat for real: two of them, killed and started again, frozen; what they owe is made, and made once."""

import os
import re
import signal
from datetime import timedelta

import pytest

from tests.services.parts import ENGINE, WORK, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

DEFINITIONS = """
from scheduling.sdk import DAG, CronPartitionTimetable, task

with DAG("every second", schedule=CronPartitionTimetable("* * * * * *")):

    @task
    def look(partition_key):
        return partition_key

    look()
"""
TICKS = "select tick_at from core_dagrun where run_type = 'scheduled' order by 1"
SWEPT = "select at from core_pulse where kind = 'sweep'"
SILENT = re.compile(r"beat: silent for (\d+) seconds; workers look for work and ticks in its place")
SECOND = timedelta(seconds=1)


@pytest.fixture(scope="module")
def parts(tmp_path_factory, module_postgres_url, module_redis_url):
    """Everything but beat."""
    directory = tmp_path_factory.mktemp("beats")
    (directory / "clock.py").write_text(DEFINITIONS)
    with Parts(directory, module_postgres_url, module_redis_url, directory / "clock.py") as parts:
        parts.prepare()
        parts.begin("engine", ENGINE)
        parts.begin("work", WORK)
        parts.serve()
        yield parts


@pytest.fixture
def beats(parts):
    for name in ("beat", "other beat"):
        parts.begin(name, ["beat"])
    yield
    for name in ("beat", "other beat"):
        parts.kill(name)


def ticks(parts):
    return [at for (at,) in parts.rows(TICKS)]


def reasons(parts):
    """Why the installation is not ready, a sentence each."""
    return parts.request("GET", "/readyz")[1]["reasons"]


def wait_for_ticks(parts, more=2):
    before = len(ticks(parts))
    parts.wait_for(lambda: len(ticks(parts)) >= before + more, seconds=90)


@pytest.mark.usefixtures("beats")
class TestTwoBeats:
    def test_both_started_again_make_each_tick_once(self, parts):
        for name in ("beat", "other beat"):
            wait_for_ticks(parts)
            parts.kill(name)
            wait_for_ticks(parts)
            parts.begin(name, ["beat"])
        wait_for_ticks(parts)
        found = ticks(parts)
        assert found == [found[0] + number * SECOND for number in range(len(found))]

    def test_frozen_are_seen_after_three_intervals_and_workers_do_their_work(self, parts):
        parts.wait_for(lambda: not reasons(parts), seconds=90)
        assert parts.request("GET", "/api/v2/monitor/health")[1]["scheduler"]["status"] == "healthy"
        for name in ("beat", "other beat"):
            os.killpg(parts.running[name].pid, signal.SIGSTOP)
        silent = parts.wait_for(lambda: SILENT.search(" ".join(reasons(parts))), seconds=90)
        assert int(silent[1]) >= 3, "three intervals of a second each"
        assert parts.request("GET", "/api/v2/monitor/health")[1]["scheduler"]["status"] == "unhealthy"

        for _ in range(2):
            swept = parts.rows(SWEPT)
            parts.wait_for(lambda swept=swept: parts.rows(SWEPT) > swept, seconds=90)
        wait_for_ticks(parts)

        for name in ("beat", "other beat"):
            os.killpg(parts.running[name].pid, signal.SIGCONT)
        parts.wait_for(lambda: not reasons(parts), seconds=90)
        found = ticks(parts)
        assert found == [found[0] + number * SECOND for number in range(len(found))]
