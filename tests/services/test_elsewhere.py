"""A whole installation whose work is done elsewhere: by an address that it calls, and by whoever asks."""

import json
import threading
import time
import urllib.request
from collections import Counter
from contextlib import contextmanager

import psycopg
import pytest

from tests.executors.receiver import receiving
from tests.installed import LOGIN, Installation

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

KEYS = [f"k{number:02}" for number in range(12)]
DEFINITIONS = """
import time
from scheduling.sdk import DAG, Asset, PartitionedAssetTimetable, PartitionedAtRuntime, Webhook, task

slices, loaded, trained = Asset("slices"), Asset("loaded"), Asset("trained")

DAG("load", schedule=PartitionedAssetTimetable(assets=slices), outlets=[loaded],
    executor=Webhook({url!r}, secret="correct horse battery"), retry_delay=0.2)

DAG("train", schedule=PartitionedAssetTimetable(assets=loaded), executor="external", outlets=[trained])

for name in ("a", "b"):
    with DAG(name, schedule=PartitionedAssetTimetable(assets=slices), pool="one machine"):
        @task
        def work():
            time.sleep(0.1)
        work()
"""


@pytest.fixture
def receiver():
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def shop(receiver, postgres_url, redis_url, tmp_path):
    """Two run workers and all the rest, beside PostgreSQL and Redis."""
    definitions = tmp_path / "shop.py"
    definitions.write_text(DEFINITIONS.format(url=receiver.url))
    environment = {
        "DATABASE_URL": postgres_url,
        "REDIS_URL": redis_url,
        "PARTITA_WEBHOOK_NETWORKS": "127.0.0.0/8",
        "PARTITA_SWEEP_SECONDS": "1",
    }
    options = ["--user", ":".join(LOGIN), "--no-demo", "--definitions", str(definitions)]
    shop = Installation(tmp_path / "var", *options, environment=environment)
    environment["PARTITA_URL"] = f"http://127.0.0.1:{shop.port}"
    shop._environment |= environment
    try:
        shop.start()
        shop.sign_in()
        yield shop
    finally:
        shop.kill_everything()


def emit(shop, keys):
    [asset] = shop.request("GET", "/api/v2/assets?name_pattern=slices")[1]["assets"]
    many = [{"asset_id": asset["id"], "partition_key": key} for key in keys]
    assert shop.request("POST", "/api/v2/assets/events/bulk", many)[0] == 200


def materialized(shop, name):
    [asset] = shop.request("GET", f"/api/v2/assets?name_pattern={name}")[1]["assets"]
    found = shop.request("GET", f"/api/v2/assets/{asset['id']}/partitions?summary=true")[1]
    return found["counts"]["materialized"]


def take_then_call_back(handler, request):
    """What a receiver does that needs a while: 202 now, the callback later; each first attempt fails."""
    sent = request.json
    status = 503 if sent["attempt"] == 1 else 202
    handler.send_response(status)
    handler.send_header("Content-Length", "0")
    handler.end_headers()
    if status == 202:
        threading.Timer(0.2, call_back, (sent["callback"],)).start()


def call_back(callback):
    request = urllib.request.Request(
        callback["url"],
        json.dumps({"state": "success", "log": "loaded"}).encode(),
        {"Content-Type": "application/json", "Authorization": f"Bearer {callback['token']}"},
    )
    urllib.request.urlopen(request).close()


@contextmanager
def most_running(postgres_url):
    """How many runs of the two Dags that share a pool were running at once: one number, known at the end."""
    most = [0]
    over = threading.Event()

    def watch():
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            while not over.wait(0.02):
                [(taken,)] = connection.execute(
                    "select count(*) from core_dagrun r join core_dag d on d.id = r.dag_id"
                    " where r.state = 'running' and d.dag_id in ('a', 'b')"
                ).fetchall()
                most[0] = max(most[0], taken)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield most
    finally:
        over.set()
        watcher.join()


def claim_and_finish(shop):
    """The keys of the runs that somebody who asks for them has executed."""
    finished = set()
    deadline = time.monotonic() + 60
    while len(finished) < len(KEYS) and time.monotonic() < deadline:
        _, claimed = shop.request("POST", "/api/v2/runs/claim", {"worker": "gpu-1", "limit": 5})
        for run in claimed["runs"]:
            body = {"worker": "gpu-1", "attempt": run["attempt"]}
            assert shop.request("POST", f"/api/v2/runs/{run['id']}/heartbeat", body)[0] == 200
            assert (
                shop.request("POST", f"/api/v2/runs/{run['id']}/finish", body | {"state": "success"})[0]
                == 200
            )
            finished.add(run["partition_key"])
        time.sleep(0.05)
    return finished


def succeeded(shop):
    counts = shop.request("GET", "/api/v2/dagStats?dag_ids=a&dag_ids=b")[1]["dags"]
    return [each["count"] for dag in counts for each in dag["stats"] if each["state"] == "success"]


def test_webhooks_call_back_others_claim_and_a_pool_is_never_exceeded(shop, receiver, postgres_url):
    receiver.replies = [take_then_call_back]
    with most_running(postgres_url) as most:
        emit(shop, KEYS)
        shop.wait_for(lambda: materialized(shop, "loaded") == len(KEYS), seconds=120)
        assert Counter(request.json["attempt"] for request in receiver.requests) == {1: 12, 2: 12}
        assert claim_and_finish(shop) == set(KEYS)
        assert materialized(shop, "trained") == len(KEYS)
        shop.wait_for(lambda: succeeded(shop) == [12, 12], seconds=120)
    assert most == [1], "the pool of one slot, shared by two Dags and several workers"
