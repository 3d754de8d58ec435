"""A crowd of processes around one PostgreSQL, for the tests that need one."""

import json
import os
import subprocess
import sys

import psycopg
import pytest

from tests.services.parts import DEADLOCKS

pytest.register_assert_rewrite("tests.services.flowing")

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

    def define(self, **dags):
        self.python("-c", DEFINE, json.dumps(dags))

    def run(self, *commands):
        """Let all `commands` begin at the same instant, and wait for them."""
        self.python("-m", "tests.services.crowd", json.dumps(commands))
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
