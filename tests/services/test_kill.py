"""Everything is killed with work queued; started again, all of it finishes and none of it twice."""

import sqlite3
import time
from collections import Counter
from pathlib import Path

import psycopg
import pytest

from tests import servers
from tests.installed import LOGIN, Installation

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

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


@pytest.fixture
def shop(request, tmp_path):
    """`request.param` names what the installation stands on; SQLite needs no name."""
    environment = {}
    if "postgres" in request.param:
        environment["DATABASE_URL"] = request.getfixturevalue("postgres_url")
    if "redis" in request.param:
        environment["REDIS_URL"] = request.getfixturevalue("redis_url")
    shop = Shop(tmp_path, environment)
    shop.installation.start()
    yield shop
    shop.installation.kill_everything()


class TestKill:
    @pytest.mark.parametrize("shop", ["sqlite", "postgres and redis"], indirect=True)
    def test_all_work_finishes_after_two_kills_and_none_is_done_twice(self, shop):
        shop.ask_for(KEYS)
        for least in (10, 40):
            shop.installation.wait_for(lambda least=least: shop.finished() >= least)
            shop.installation.kill_everything()
            finished = [f"{dag_id} {key}" for dag_id, key, state in shop.rows(RUNS) if state == "success"]
            noted = Counter(shop.noted())
            shop.installation.start()
        wait_until_done(shop)
        assert_all_done_once(shop)
        again = Counter(shop.noted()) - noted
        assert not [done for done in finished if done in again], "a finished run was executed again"

    @pytest.mark.parametrize("shop", ["sqlite", "postgres alone", "postgres and redis"], indirect=True)
    def test_a_stop_in_good_order_repeats_nothing(self, shop):
        shop.ask_for(KEYS)
        shop.installation.wait_for(lambda: shop.finished() >= 10)
        assert shop.installation.interrupt() == 0
        time.sleep(0.1)
        assert shop.installation.processes() == []
        shop.installation.start()
        wait_until_done(shop)
        assert_all_done_once(shop)
        assert_none_executed_twice(shop)


class TestBrokerThatDies:
    def test_redis_may_lose_all_its_messages(self, tmp_path, postgres_url):
        """Requests are answered while it is away; when it is back, the sweep finds what nobody announced."""
        port = servers.free_port()
        url = f"redis://127.0.0.1:{port}/0"
        shop = Shop(tmp_path, {"DATABASE_URL": postgres_url, "REDIS_URL": url})
        try:
            with servers.private_redis(port):
                shop.installation.start()
                shop.ask_for(KEYS[:20])
                shop.installation.wait_for(lambda: shop.finished() >= 4)
            shop.ask_for(KEYS[20:])
            with servers.private_redis(port):
                wait_until_done(shop)
                assert_all_done_once(shop)
                assert_none_executed_twice(shop)
                assert shop.installation.interrupt() == 0
        finally:
            shop.installation.kill_everything()
