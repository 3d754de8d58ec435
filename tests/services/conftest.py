"""A crowd of processes around one PostgreSQL, for the tests that need one."""

import json
import os
import subprocess
import sys
import tempfile

import psycopg
import pytest

from tests.services.parts import DEADLOCKS

DEFINE = """
import django; django.setup()
import json, sys
from tests.engine.world import consumer
for dag_id, mappers in json.loads(sys.argv[1]).items():
    consumer(dag_id, mappers)
"""


@pytest.fixture
def crowd(postgres_url, redis_url, tmp_path):
    return Crowd(postgres_url, redis_url, tmp_path)


class Crowd:
    def __init__(self, postgres_url, redis_url, data_dir):
        self.url = postgres_url
        self.env = os.environ | {
            "DATABASE_URL": postgres_url,
            "REDIS_URL": redis_url,
            "PARTITA_DATA_DIR": str(data_dir),
            "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
        }
        self.python("manage.py", "migrate", "-v", "0")

    def define(self, **dags):
        self.python("-c", DEFINE, json.dumps(dags))

    def run(self, *commands):
        """Let all `commands` begin at the same instant, and wait for them."""
        meeting = tempfile.mkdtemp(dir=self.env["PARTITA_DATA_DIR"])
        env = self.env | {"PARTITA_TEST_MEETING": meeting, "PARTITA_TEST_CROWD": str(len(commands))}
        together = [
            subprocess.Popen([sys.executable, "-m", "tests.services.crowd", *command], env=env)
            for command in commands
        ]
        assert [process.wait() for process in together] == [0] * len(commands)
        assert self.rows(DEADLOCKS) == [(0,)]

    def rows(self, sql):
        with psycopg.connect(self.url) as connection:
            return connection.execute(sql).fetchall()

    def ask(self, code):
        """What `code` prints as JSON."""
        command = [sys.executable, "-c", code]
        return json.loads(subprocess.run(command, env=self.env, check=True, stdout=subprocess.PIPE).stdout)

    def python(self, *arguments):
        subprocess.run([sys.executable, *arguments], env=self.env, check=True)
