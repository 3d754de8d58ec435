"""Parts are killed while events flow; what comes of it is what the reference model says of these events."""

from itertools import count

import pytest
import redis

from tests.services.flowing import Flow
from tests.services.parts import ENGINE, WORK, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

MONTHS = count(1)
CUT = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid()
"""


@pytest.fixture(scope="module")
def parts(tmp_path_factory, module_postgres_url, module_redis_url):
    """Pages and beat, which go on through all tests; each test has workers of its own."""
    directory = tmp_path_factory.mktemp("chaos")
    with Parts(directory, module_postgres_url, module_redis_url, "tests.services.flow") as parts:
        parts.prepare()
        parts.begin("beat", ["beat"])
        parts.serve()
        yield parts


@pytest.fixture
def flow(parts):
    """Events of a month that no other test has."""
    yield Flow(parts, f"2026-{next(MONTHS):02}")
    for name in ("engine", "work"):
        parts.kill(name)


class TestWorker:
    @pytest.mark.parametrize("point", ["mapping:2", "judging:2"])
    def test_killed_before_what_it_decided_is_committed(self, flow, tmp_path, point):
        struck = tmp_path / "struck"
        flow.parts.begin("engine", ENGINE, PARTITA_FAULT=f"{point}:{struck}")
        flow.parts.begin("work", WORK)
        flow.rise()
        flow.parts.wait_for(struck.exists, seconds=120)
        flow.parts.running["engine"].wait(60)
        flow.parts.begin("engine", ENGINE)
        flow.go_on()
        flow.come_to_its_end()

    @pytest.mark.parametrize("point", ["executing:4", "emitting:4"])
    def test_killed_before_what_it_has_done_is_recorded(self, flow, tmp_path, point):
        """One of its two processes: the worker itself starts another."""
        struck = tmp_path / "struck"
        flow.parts.begin("engine", ENGINE)
        flow.parts.begin("work", WORK, PARTITA_FAULT=f"{point}:{struck}")
        flow.rise()
        flow.parts.wait_for(struck.exists, seconds=120)
        flow.go_on()
        flow.come_to_its_end()

    def test_killed_with_all_its_processes_wherever_they_are(self, flow):
        flow.parts.begin("engine", ENGINE)
        flow.parts.begin("work", WORK)
        for report in (flow.rise, flow.go_on):
            report()
            flow.parts.kill("engine")
            flow.parts.kill("work")
            flow.parts.begin("engine", ENGINE)
            flow.parts.begin("work", WORK)
        flow.come_to_its_end()


class TestWhatWorkersStandOn:
    @pytest.fixture(autouse=True)
    def workers(self, flow):
        flow.parts.begin("engine", ENGINE)
        flow.parts.begin("work", WORK)

    @pytest.fixture
    def server(self, module_redis_url):
        with redis.Redis.from_url(module_redis_url) as server:
            yield server

    def test_redis_forgets_everything(self, flow, server):
        flow.rise()
        server.flushall()
        flow.go_on()
        server.flushall()
        flow.come_to_its_end()

    def test_beat_is_killed_and_redis_forgets_everything(self, flow, server):
        """Workers look for lost work themselves when beat has been silent for three intervals."""
        flow.parts.kill("beat")
        flow.rise()
        server.flushall()
        flow.go_on()
        server.flushall()
        flow.come_to_its_end()
        flow.parts.begin("beat", ["beat"])

    def test_postgresql_ends_the_connections_they_work_with(self, flow):
        flow.rise()
        self._cut(flow.parts)
        flow.go_on()
        for _ in range(4):
            self._cut(flow.parts)
        flow.come_to_its_end()

    def _cut(self, parts):
        """Nobody but workers and beat is connected now: the pages have answered."""
        parts.wait_for(lambda: parts.rows(CUT)[0][0] > 0, seconds=60)
