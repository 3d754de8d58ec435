"""What docs/cli.md and docs/reporting.md say is so, api.md of refusals, operations.md of migrations."""

import ast
import json
import os
import re
import subprocess
import urllib.request
from json import dumps
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from core.models import AssetEvent
from partitions_site.cli import names
from partitions_site.models import ApiToken
from scheduling import checking

DOCS = Path(__file__).parents[2] / "docs"
CLI, REPORTING = (DOCS / "cli.md").read_text(), (DOCS / "reporting.md").read_text()
API = (DOCS / "api.md").read_text()
MIGRATIONS = sorted((DOCS.parent / "core" / "migrations").glob("0*.py"))


class Requests:
    """What the paper's example wants of a library that is no part of these tests."""

    @staticmethod
    def post(url, json, headers):
        body = dumps(json).encode()
        request = urllib.request.Request(url, body, headers | {"Content-Type": "application/json"})
        answer = urllib.request.urlopen(request)
        answer.raise_for_status = lambda: None  # urlopen has raised by now
        return answer


class TestCommandLine:
    def test_names_every_command(self):
        named = set(re.findall(r"^\| `(\w+)", CLI, re.MULTILINE))
        assert named == names.COMMANDS.keys()

    def test_names_codes_that_there_are(self):
        [line] = [each for each in CLI.split("\n\n") if each.startswith("Codes keep")]
        assert set(re.findall(r"`([a-z-]+)`", line)) < checking.CODES.keys()


@pytest.mark.django_db
class TestRefusals:
    @pytest.mark.parametrize(
        ("headers", "status"),
        [
            ({}, 401),
            ({"HTTP_AUTHORIZATION": "Bearer pt_0123456789"}, 401),
            ({"HTTP_AUTHORIZATION": "Bearer"}, 403),
            ({"HTTP_AUTHORIZATION": "Bearer "}, 403),
            ({"HTTP_AUTHORIZATION": "Bearer wrong"}, 403),
        ],
    )
    def test_of_who_is_not_signed_in_are_as_the_paper_says(self, client, headers, status):
        [told] = re.findall(rf"{status}:\s([^.]*)\.", API.split("## Refusals")[1])
        answer = client.get("/api/v2/assets", **headers)
        assert answer.status_code == status
        assert (answer.json()["detail"] == "Invalid JWT token") == ("`Invalid JWT token`" in told)


def blocks(kind):
    return re.findall(rf"^```{kind}\n(.*?)^```$", REPORTING, re.DOTALL | re.MULTILINE)


@pytest.mark.django_db(transaction=True)
class TestReporting:
    @pytest.fixture
    def environment(self, lab, live_server, tmp_path):
        user = User.objects.create_superuser("ann", password="secret")
        _, token = ApiToken.objects.create(user=user, expiry=None, name="cron")
        dbt = tmp_path / "dbt"
        dbt.write_text("#!/bin/sh\n")
        dbt.chmod(0o755)
        return {
            **os.environ,
            "PATH": f"{tmp_path}:{os.environ['PATH']}",
            "PARTITA": live_server.url,
            "TOKEN": token,
            "ASSET": str(lab["plain_asset"].pk),
        }

    @pytest.mark.parametrize("script", blocks("sh"))
    def test_scripts_report_once_though_they_run_twice(self, script, environment):
        for _ in range(2):
            subprocess.run(["bash", "-e", "-c", script], env=environment, check=True, capture_output=True)
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", AssetEvent.objects.get().partition_key)

    def test_takes_five_lines(self):
        assert all(len(block.splitlines()) <= 5 for block in [*blocks("sh"), *blocks("python")])

    def test_what_spark_sends_is_taken(self, environment, lab):
        [spark] = [block for block in blocks("python") if "df." in block]

        class Frame:
            def select(self, *_):
                return self

            distinct = select

            def collect(self):
                row = type("Row", (), {})
                first, second = row(), row()
                first.day, second.day = "2026-03-10", "2026-03-11"
                return [first, second]

        known = {"df": Frame(), "asset": lab["plain_asset"].pk, "run": "r1", "requests": Requests}
        exec(spark, known | {"token": environment["TOKEN"], "partita": environment["PARTITA"]})
        assert AssetEvent.objects.count() == 2

    def test_what_airflow_sends_is_an_event(self):
        [airflow] = [block for block in blocks("python") if "Operator" in block]
        [call] = [node for node in ast.walk(ast.parse(airflow)) if isinstance(node, ast.Call)]
        [text] = [each.value.value for each in call.keywords if each.arg == "data"]
        assert json.loads(text).keys() == {"asset_id", "partition_key", "idempotency_key"}


class TestMigrations:
    def test_that_write_whole_tables_anew_are_told(self):
        """PostgreSQL does that for a column that is worked out and stored; the first one finds no rows."""
        texts = {path.stem: path.read_text() for path in MIGRATIONS}
        rewriting = [name for name, text in texts.items() if re.search(r"GeneratedField\(", text)]
        told = (DOCS / "operations.md").read_text()
        assert rewriting
        assert [name for name in rewriting if f"`{name}`" not in told and name != MIGRATIONS[0].stem] == []
