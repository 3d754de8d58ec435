"""Schemathesis against a running Partita: whatever is sent, it answers as it says that it does.

It makes requests from the description of the API, well-formed and not, for `SECONDS`, with things that there
are in its addresses (`fuzzed.toml`). An answer that is not described, or a 5xx, is a failure.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.installed import LOGIN, Installation

pytestmark = [pytest.mark.services, pytest.mark.slow]
pytest.importorskip("schemathesis", reason="needs schemathesis, which requirements-dev.txt pins")

HERE = Path(__file__).parent
LAB = HERE.parent / "api" / "lab.py"
SECONDS = 30
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)
ENDS_THE_TEST = r"auth/logout"
"""The address that would end the token of this test."""


@pytest.fixture
def installation(tmp_path):
    options = ("--no-demo", "--definitions", str(LAB), "--user", ":".join(LOGIN))
    unlimited = {"PARTITA_REQUESTS_PER_MINUTE": "0"}
    installation = Installation(tmp_path / "var", *options, environment=unlimited)
    try:
        installation.start()
        installation.sign_in()
        yield installation
    finally:
        installation.kill_everything()


def fill(installation):
    """Some of everything, so that addresses lead somewhere."""
    _, found = installation.request("GET", "/api/v2/assets")
    for asset in found["assets"]:
        for key in ("tw", "2026-03-10T09:00:00"):
            installation.request(
                "POST", "/api/v2/assets/events", {"asset_id": asset["id"], "partition_key": key}
            )
    # Waiting is for one that has ended, in a Dag that nothing else names: nobody queues it again.
    for run_id in ("x", "y"):
        installation.request("POST", "/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": run_id})
    installation.request("POST", "/api/v2/dags/lab_plain_consumer/dagRuns", {"dag_run_id": "z"})
    dates = {"from_date": "2026-02-18T00:00:00Z", "to_date": "2026-02-18T02:00:00Z"}
    installation.request("POST", "/api/v2/backfills", {"dag_id": "lab_hourly_sales"} | dates)
    installation.request("POST", "/api/v2/pools", {"name": "p", "slots": 1})


@pytest.mark.timeout(180)
def test_every_answer_is_one_that_is_described(installation, tmp_path):
    fill(installation)
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "--config-file", str(HERE / "fuzzed.toml"), "run"),
            f"http://127.0.0.1:{installation.port}/api/v2/openapi.json",
            *("--header", f"Authorization: Bearer {installation.token}"),
            *("--checks", ",".join(CHECKS), "--phases", "coverage,fuzzing"),
            *("--max-time", str(SECONDS), "--max-examples", "3", "--seed", "1"),
            *("--exclude-path-regex", ENDS_THE_TEST, "--warnings", "off"),
            *("--continue-on-failure", "--no-color", "--generation-database", "none"),
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
    assert "Tested:" in ran.stdout
