"""`up` for real on SQLite and nothing else: what it prints, how it stops, what it refuses."""

import os
import re
import signal
import socket
import stat
import urllib.error
import urllib.request

import pytest

from tests.installed import LOGIN, Installation
from tests.servers import free_port

pytestmark = pytest.mark.services

NEVER = """
from scheduling.sdk import *
days = Asset(name="days")
with DAG(dag_id="daily", schedule=CronPartitionTimetable("0 0 * * *", timezone="UTC", key_format="%Y-%m-%d")):
    @task(outlets=[days])
    def write(): pass
    write()
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=days,
    default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow()))): pass
"""
"""`reader` can never fire."""


@pytest.fixture
def installation(tmp_path):
    installation = Installation(tmp_path / "var", "--no-demo")
    yield installation
    if installation.supervisor:
        installation.kill_everything()


def status_of(address: str) -> int:
    with urllib.request.urlopen(address) as answer:
        return answer.status


class TestStart:
    def test_prints_an_address_that_answers_and_a_login_that_works(self, installation):
        installation.makes_tables = True
        installation.start()
        said = installation.output()
        assert f"http://127.0.0.1:{installation.port}/" in said
        assert status_of(installation.address() + "admin/login/") == 200
        name, password = re.search(r"name +(\S+)\n +password +(\S+)", said).groups()
        assert name == "admin"
        assert len(password) >= 12
        status, _ = installation.request("POST", "/auth/token", {"username": name, "password": password})
        assert status == 201

    def test_a_second_start_finds_everything_as_it_was(self, installation):
        installation.start()
        password = re.search(r"password +(\S+)", installation.output())[1]
        installation.interrupt()
        installation.start()
        assert password not in installation.output()
        assert "as before" in installation.output()
        status, _ = installation.request("POST", "/auth/token", {"username": "admin", "password": password})
        assert status == 201

    def test_says_once_what_cannot_be_loaded(self, tmp_path):
        definitions = tmp_path / "definitions"
        definitions.mkdir()
        (definitions / "bad.py").write_text("1 / 0")
        (definitions / "good.py").write_text('from scheduling.sdk import DAG\n\nDAG("good")\n')
        (definitions / "never.py").write_text(NEVER)
        installation = Installation(tmp_path / "var", "--no-demo", "--definitions", str(definitions))
        try:
            installation.start()
            installation.wait_for(lambda: "division by zero" in installation.output())
            installation.wait_for(lambda: "Dag reader: " in installation.output())
            assert installation.output().count("division by zero") == 1
            told = "1 file cannot be loaded, 1 problem in what is loaded: see below"
            assert f"Definitions: 2 files, 1 asset, 3 Dags\n{told}" in installation.output()
        finally:
            installation.kill_everything()

    def test_takes_the_login_that_is_given(self, tmp_path):
        installation = Installation(tmp_path / "var", "--no-demo", "--user", ":".join(LOGIN))
        try:
            installation.start()
            installation.sign_in()
        finally:
            installation.kill_everything()

    def test_keeps_everything_in_the_directory_and_the_secret_to_its_owner(self, installation, tmp_path):
        installation.makes_tables = True
        installation.start()
        assert {"partita.sqlite3", "secret_key"} <= {path.name for path in installation.directory.iterdir()}
        assert stat.S_IMODE((installation.directory / "secret_key").stat().st_mode) == 0o600
        assert [path.name for path in tmp_path.iterdir()] == ["var"]

    def test_a_port_that_is_taken_is_said_in_a_sentence(self, installation):
        with socket.create_server(("127.0.0.1", installation.port)):
            installation.directory.mkdir()
            refused = installation.popen("up", "--port", str(installation.port), "--no-demo", stderr=-1)
            _, said = refused.communicate(timeout=60)
        assert refused.returncode == 1
        assert f"Port {installation.port} on 127.0.0.1 cannot be used".encode() in said
        assert b"choose another: ./partita up --port" in said
        assert b"Traceback" not in said

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            (["--port", "web"], b"a port is a number from 1 to 65535, not web"),
            (["--user", "ann"], b"write NAME:PASSWORD"),
            (["--workers", "0"], b"at least 1"),
            (["--workers", "many"], b"at least 1"),
        ],
    )
    def test_a_wrong_option_is_said_in_a_sentence(self, installation, options, sentence):
        installation.directory.mkdir()
        refused = installation.popen("up", *options, stderr=-1)
        _, said = refused.communicate(timeout=60)
        assert refused.returncode == 2
        assert said.startswith(b"usage: partita up ")
        assert sentence in said
        assert b"Traceback" not in said


class TestSigningIn:
    def test_nobody_on_this_machine_makes_up_where_they_come_from(self, tmp_path):
        """The server itself believes what says `X-Forwarded-For` from 127.0.0.1, unless it is told not to."""
        installation = Installation(tmp_path / "var", "--no-demo", environment={"PARTITA_SIGN_IN_TRIES": "2"})
        try:
            installation.start()
            assert [guessed(installation, f"192.0.2.{number}") for number in range(3)] == [401, 401, 429]
        finally:
            installation.kill_everything()


def guessed(installation, origin):
    """The answer to a wrong password that comes from `origin`, or so it says."""
    request = urllib.request.Request(
        f"{installation.address()}auth/token",
        b'{"username": "ann", "password": "guess"}',
        {"Content-Type": "application/json", "X-Forwarded-For": origin},
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    return refused.value.code


class TestRefusals:
    def refusal(self, installation, *options, **environment):
        installation.directory.mkdir()
        refused = Installation(installation.directory, environment=environment)
        started = refused.popen("up", "--port", str(refused.port), "--no-demo", *options, stderr=-1)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 1
        assert b"Traceback" not in said
        return said.decode()

    def test_a_database_that_does_not_answer(self, installation):
        url = f"postgres://nobody@127.0.0.1:{installation.port}/none"
        assert "The database of DATABASE_URL cannot be used: " in self.refusal(installation, DATABASE_URL=url)

    def test_a_broker_that_does_not_answer(self, installation):
        said = self.refusal(installation, REDIS_URL=f"redis://:secret@127.0.0.1:{installation.port}/0")
        assert f"127.0.0.1:{installation.port}/0 does not answer" in said
        assert "secret" not in said

    def test_a_setting_that_cannot_be_read(self, installation):
        assert "PARTITA_SWEEP_SECONDS must be a number" in self.refusal(
            installation, PARTITA_SWEEP_SECONDS="soon"
        )

    @pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
    def test_an_address_that_this_machine_does_not_have(self, installation, host):
        assert f"no address {host}: choose another with --host" in self.refusal(installation, "--host", host)

    def test_a_directory_that_is_a_file(self, installation, tmp_path):
        (tmp_path / "file").touch()
        assert f"The data directory {tmp_path}/file cannot be used: " in self.refusal(
            installation, "--data", str(tmp_path / "file")
        )

    def test_a_directory_in_which_nothing_can_be_written(self, installation, tmp_path):
        (tmp_path / "full" / "engine.lock").mkdir(parents=True)
        assert f"The data directory {tmp_path}/full cannot be used: " in self.refusal(
            installation, "--data", str(tmp_path / "full")
        )

    def test_a_directory_that_another_one_works_on(self, installation):
        installation.start()
        second = installation.popen(
            *["up", "--port", str(free_port()), "--data", str(installation.directory), "--no-demo"], stderr=-1
        )
        _, said = second.communicate(timeout=60)
        assert second.returncode == 1
        assert f"Partita is running on {installation.directory} already" in said.decode()
        assert installation.interrupt() == 0


class TestStop:
    def test_an_interrupt_leaves_nothing_behind(self, installation):
        installation.start()
        assert len(installation.processes()) == 3
        assert installation.interrupt() == 0
        assert installation.processes() == []
        assert "Stopped." in installation.output()
        assert "Traceback" not in installation.output()

    def test_a_killed_supervisor_takes_its_children_along(self, installation):
        installation.start()
        os.kill(installation.supervisor.pid, signal.SIGKILL)
        installation.supervisor.wait()
        installation.wait_for(lambda: not installation.processes(), seconds=20)

    def test_an_engine_that_is_killed_is_started_again(self, installation):
        installation.start()
        before = set(installation.processes())
        for pid in before - {installation.supervisor.pid}:
            os.kill(pid, signal.SIGKILL)
        installation.wait_for(lambda: len(set(installation.processes()) - before) == 2)
        installation.wait_for(lambda: "starting it again" in installation.output())
        assert installation.interrupt() == 0
