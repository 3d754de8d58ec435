"""An installation that cuts slices and copies each of them, and what it has on record."""

import sqlite3
from collections import Counter
from pathlib import Path

import psycopg

from tests.installed import LOGIN, Installation

KEYS = [f"k{number:02}" for number in range(60)]
DEFINITIONS = """
import time
from scheduling.sdk import DAG, Asset, PartitionedAssetTimetable, PartitionedAtRuntime, task

slices, copies = Asset(name="slices"), Asset(name="copies")


def take_note(what):
    with open({notes!r}, "a") as file:
        file.write(what + "\\n")


with DAG(dag_id="slice", schedule=PartitionedAtRuntime(), max_active_runs=100):

    @task(outlets=[slices])
    def cut(partition_key):
        take_note("slice " + partition_key)
        time.sleep(0.2)

    cut()

with DAG(dag_id="copy", schedule=PartitionedAssetTimetable(assets=slices), max_active_runs=100):

    @task(outlets=[copies])
    def copy(partition_key):
        time.sleep(0.1)
        take_note("copy " + partition_key)

    copy()
"""
RUNS = """
select dag.dag_id, run.partition_key, run.state
from core_dagrun run join core_dag dag on dag.id = run.dag_id
"""
EVENTS = """
select asset.name, event.partition_key
from core_assetevent event join core_asset asset on asset.id = event.asset_id
"""


class Shop:
    """An installation that cuts slices and copies each of them."""

    def __init__(self, directory: Path, environment: dict[str, str], *options: str) -> None:
        self.notes = directory / "notes.txt"
        definitions = directory / "shop.py"
        definitions.write_text(DEFINITIONS.format(notes=str(self.notes)))
        self.url = environment.get("DATABASE_URL")
        login = ["--user", ":".join(LOGIN), "--no-demo", "--definitions", str(definitions)]
        # Runs of workers that are killed belong to them until the lease ends: nothing else is waited for.
        environment = {"PARTITA_LEASE_SECONDS": "10"} | environment
        self.installation = Installation(directory / "var", *login, *options, environment=environment)

    def rows(self, sql: str) -> list[tuple]:
        if self.url:
            with psycopg.connect(self.url) as connection:
                return connection.execute(sql).fetchall()
        connection = sqlite3.connect(self.installation.directory / "partita.sqlite3", timeout=20)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def ask_for(self, keys: list[str]) -> None:
        self.installation.sign_in()
        for key in keys:
            status, answer = self.installation.request(
                "POST", "/api/v2/dags/slice/dagRuns", {"partition_key": key}
            )
            assert status == 200, answer

    def finished(self) -> int:
        return sum(state == "success" for _, _, state in self.rows(RUNS))

    def noted(self) -> list[str]:
        return self.notes.read_text().splitlines() if self.notes.exists() else []


def wait_until_done(shop: Shop) -> None:
    shop.installation.wait_for(lambda: shop.finished() == 2 * len(KEYS), seconds=150)


def assert_all_done_once(shop: Shop) -> None:
    expected = {(dag_id, key, "success"): 1 for dag_id in ("slice", "copy") for key in KEYS}
    assert Counter(shop.rows(RUNS)) == expected
    assert Counter(shop.rows(EVENTS)) == {(name, key): 1 for name in ("slices", "copies") for key in KEYS}


def assert_none_executed_twice(shop: Shop) -> None:
    twice = [note for note, times in Counter(shop.noted()).items() if times > 1]
    assert not twice, shop.installation.all_output()
