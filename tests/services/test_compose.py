"""docker-compose.yml without Docker: each of its commands runs here, on servers of our own."""

import re
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import yaml

from tests.installed import LOGIN, Installation
from tests.services.shop import RUNS

HOME = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((HOME / "docker-compose.yml").read_text())
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("image") == "partita"}
DOCKERFILE = (HOME / "Dockerfile").read_text()
DEFINITIONS = """
from scheduling.sdk import DAG, PartitionedAtRuntime, task

with DAG(dag_id="slice", schedule=PartitionedAtRuntime()):

    @task
    def cut(partition_key):
        return partition_key

    cut()
"""


def replicas(service):
    """How many of one there are."""
    return service.get("deploy", {}).get("replicas", 1)


class TestFiles:
    def test_everything_but_the_migration_waits_for_it(self):
        waiting = {name for name, service in OURS.items() if "migrate" in service["depends_on"]}
        assert waiting == set(OURS) - {"migrate"}
        assert OURS["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}

    def test_there_is_all_that_an_installation_runs_with_two_beats(self):
        assert COMPOSE["services"].keys() == {
            "postgres",
            "redis",
            "migrate",
            "web",
            "beat",
            "engine",
            "worker",
        }
        assert replicas(OURS["beat"]) == 2

    def test_health_is_looked_at_where_others_wait_for_it(self):
        looked_at = {name for name, service in COMPOSE["services"].items() if "healthcheck" in service}
        assert looked_at == set(COMPOSE["services"]) - {"migrate"}
        waited_for = {
            other
            for service in OURS.values()
            for other, wait in service["depends_on"].items()
            if wait["condition"] == "service_healthy"
        }
        assert waited_for <= looked_at

    def test_stops_wait_longer_than_the_slowest_process_takes(self):
        assert {service["stop_grace_period"] for service in OURS.values()} == {"60s"}

    def test_no_secret_has_a_default(self):
        text = (HOME / "docker-compose.yml").read_text()
        assert set(re.findall(r"\$\{(\w+):\?\}", text)) == {"POSTGRES_PASSWORD", "PARTITA_SECRET_KEY"}

    def test_the_image_holds_all_that_an_installation_needs(self):
        copied = set(re.findall(r"^COPY (\w+) \1$", DOCKERFILE, re.MULTILINE))
        assert copied == {"core", "scheduling", "partitions_site", "templates", "static"}
        ignored = (HOME / ".dockerignore").read_text()
        assert all(f"!{name}\n" in ignored for name in copied)

    def test_the_image_runs_as_nobody_special(self):
        assert re.search(r"^USER partita$", DOCKERFILE, re.MULTILINE)


@pytest.mark.services
@pytest.mark.timeout(180)
class TestCommands:
    @pytest.fixture
    def installation(self, tmp_path, empty_postgres_url, redis_url):
        definitions = tmp_path / "shop.py"
        definitions.write_text(DEFINITIONS)
        environment = {
            "DATABASE_URL": empty_postgres_url,
            "REDIS_URL": redis_url,
            "PARTITA_DEFINITIONS": str(definitions),
            "PARTITA_SECRET_KEY": "given, as in the file",
            "DJANGO_SUPERUSER_PASSWORD": LOGIN[1],
        }
        assert set(OURS["web"]["environment"]) <= {
            *environment,
            "PARTITA_ALLOWED_HOSTS",
            "PARTITA_TRUSTED_ORIGINS",
            "PARTITA_ALIVE_FILE",
        }
        installation = Installation(tmp_path / "var", environment=environment)
        installation.directory.mkdir()
        yield installation
        installation.kill_everything()

    def test_all_of_them_together_execute_a_run_and_stop_in_good_order(self, installation):
        assert installation.popen(*OURS["migrate"]["command"]).wait(60) == 0
        owner = ["createsuperuser", "--noinput", "--username", LOGIN[0], "--email", "tester@example.org"]
        assert installation.popen(*owner).wait(60) == 0
        commands = [
            [str(installation.port) if word == "8000" else word for word in service["command"]]
            for name, service in OURS.items()
            for _ in range(replicas(service) if name != "migrate" else 0)
        ]
        alive = [installation.directory / f"alive{number}" for number in range(len(commands))]
        started = [
            installation.popen(*command, environment={"PARTITA_ALIVE_FILE": str(file)})
            for command, file in zip(commands, alive, strict=True)
        ]
        installation.wait_for(installation.answers)
        installation.sign_in()
        installation.wait_for(lambda: self.ask_for_a_run(installation) == 200)
        installation.wait_for(lambda: self.runs(installation) == [("slice", "2026-03-10", "success")])
        well = [file for file, command in zip(alive, commands, strict=True) if command[0] != "web"]
        installation.wait_for(lambda: all(map(self.is_well, well)))
        for child in started:
            child.terminate()
        assert [child.wait(60) for child in started] == [0] * 5

    def is_well(self, file):
        """What the health check of the file says, of this file."""
        _, *command = OURS["worker"]["healthcheck"]["test"]
        command = [sys.executable, *(word.replace("/tmp/alive", str(file)) for word in command[1:])]
        return subprocess.run(command, stderr=subprocess.DEVNULL).returncode == 0

    def ask_for_a_run(self, installation):
        """404 until beat has loaded the definitions."""
        body = {"partition_key": "2026-03-10"}
        return installation.request("POST", "/api/v2/dags/slice/dagRuns", body)[0]

    def runs(self, installation):
        with psycopg.connect(installation.environment()["DATABASE_URL"]) as connection:
            return connection.execute(RUNS).fetchall()
