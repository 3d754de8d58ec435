"""During a backfill of 200 partitions all goes wrong that can with messages and those who take them."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from tests import servers
from tests.installed import HOME
from tests.services.parts import ENGINE, WORK, Parts
from tests.services.stages import KEYS, LONG, STAGE, open_gate, take_note

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(600)]

RUNS = """
select run.partition_key, run.state from core_dagrun run join core_dag dag on dag.id = run.dag_id
where dag.dag_id = %s
"""
EVENTS = """
select event.partition_key from core_assetevent event join core_asset asset on asset.id = event.asset_id
where asset.name = 'cuts'
"""
UNFINISHED = "select 1 from core_dagrun where state in ('queued', 'running')"
SWEEP_TWICE = """
import django; django.setup()
import json, time
import redis
from django.conf import settings
from django.core.management import call_command
from django.utils import timezone
from partitions_site.celery import app
from scheduling import backfills, tasks
from scheduling.backfills import Ask
from tests.engine.world import ALICE, dag

def waiting():
    return sorted(json.loads(each)["headers"]["argsrepr"] for each in server.lrange("partita:work", 0, -1))

server = redis.Redis.from_url(settings.REDIS_URL)
call_command("migrate", verbosity=0)
cut = dag("cut", {"type": "PartitionedAtRuntime"}, writes=["cuts"], max_active_runs=50)
keys = tuple(f"k{number}" for number in range(20))
backfills.start(Ask(dags=(cut,), keys=keys, max_active_runs=50), deed=ALICE, at=timezone.now())
tasks.advance_backfills()
tasks.start_runs()
sent = waiting()
server.flushall()
left = waiting()
tasks.repair()
time.sleep(settings.SWEEP_SECONDS)
tasks.repair()
print(json.dumps([sent, left, waiting()]))
"""


class Cutting:
    """The backfill under way, on a Redis of our own that can be stopped. Three runs at a time, for two
    workers with four processes: one of these is free whatever the others wait for."""

    def __init__(self, directory: Path, postgres_url: str) -> None:
        self.directory = directory
        self.port = servers.free_port()
        self.redis_url = f"redis://127.0.0.1:{self.port}/0"
        environment = {
            "DJANGO_SETTINGS_MODULE": "tests.services.impatient",
            "PARTITA_TEST_STAGES": str(directory),
            "PARTITA_LEASE_SECONDS": "8",
        }
        self.parts = Parts(directory, postgres_url, self.redis_url, "tests.services.stages", **environment)
        self._redis = ExitStack()

    def start(self) -> None:
        self.start_redis()
        self.parts.prepare()
        self.parts.begin("beat", ["beat"])
        self.parts.begin("engine", ENGINE)
        for name in ("first", "second"):
            self.parts.begin(name, WORK)
        self.parts.serve()
        body = {"dag_id": "cut", "partition_keys": KEYS, "max_active_runs": 3}
        status, answer = self.parts.request("POST", "/api/v2/backfills", body)
        assert status == 200, answer
        self.backfill_id = answer["id"]

    def start_redis(self) -> None:
        self._redis.enter_context(servers.private_redis(self.port))

    def stop_redis(self) -> None:
        self._redis.close()

    def make_redis_forget(self) -> None:
        with redis.Redis.from_url(self.redis_url) as server:
            server.flushall()

    def open(self, gate: str) -> None:
        open_gate(self.directory, gate)

    def come_to(self, stage: int, *, tasks: int = 3) -> None:
        """Wait until so many tasks of that stage stand at its gate: there is no room for more."""
        self.parts.wait_for(lambda: len(self.begun()) == STAGE * stage + tasks, seconds=240)

    def kill(self, name: str) -> set[str]:
        """SIGKILL for a worker and its processes; the keys that they had in hand."""
        members = [str(pid) for pid in self._group(name)]
        self.parts.kill(name)
        in_hand = {key for key, pid in self._under_way().items() if pid in members}
        take_note(self.directory, "killed", *members)
        return in_hand

    def end_in_good_order(self, name: str) -> subprocess.Popen[bytes]:
        child = self.parts.running.pop(name)
        child.send_signal(signal.SIGTERM)
        return child

    def has_answered(self, key: str) -> bool:
        """Whether a worker has come to the end of a message to execute the run of `key`."""
        [(pk,)] = self.parts.rows("select id from core_dagrun where partition_key = %s", key)
        return any(words[:2] == ["answered", str(pk)] for words in self._notes())

    def begun(self) -> Counter:
        """How often the task of each key has begun."""
        return Counter(words[1] for words in self._notes() if words[0] == "begin")

    def runs(self, dag_id: str) -> Counter:
        return Counter(self.parts.rows(RUNS, dag_id))

    def state(self) -> tuple[str, int]:
        """What the API says of the backfill, and how many of its partitions are done."""
        answer = self.parts.request("GET", f"/api/v2/backfills/{self.backfill_id}")[1]
        return answer["status"], answer["partitions"]["done"]

    def twice_at_once(self) -> list[str]:
        """Keys that were executed while another process that lived was executing them."""
        under_way: dict[str, str] = {}
        twice = []
        for deed, *words in self._notes():
            if deed == "begin":
                key, pid = words
                twice += [key] if key in under_way else []
                under_way[key] = pid
            elif deed == "end":
                under_way.pop(words[0], None)
            elif deed == "killed":
                under_way = {key: pid for key, pid in under_way.items() if pid not in words}
        return twice

    def _under_way(self) -> dict[str, str]:
        begun = {words[1]: words[2] for words in self._notes() if words[0] == "begin"}
        return {key: pid for key, pid in begun.items() if ["end", key, pid] not in self._notes()}

    def _notes(self) -> list[list[str]]:
        path = self.directory / "notes.txt"
        return [line.split() for line in path.read_text().splitlines()] if path.exists() else []

    def _group(self, name: str) -> list[int]:
        leader = self.parts.running[name].pid
        return [pid for pid in self.parts.processes() if os.getpgid(pid) == leader]


@pytest.fixture
def cutting(tmp_path, postgres_url, redis_url):
    """`redis_url` is only asked for to know that there is a Redis here."""
    cutting = Cutting(tmp_path / "var", postgres_url)
    try:
        cutting.start()
        yield cutting
    finally:
        cutting.parts.end()
        cutting.stop_redis()


def test_two_hundred_partitions_are_cut_once_whatever_becomes_of_messages_and_workers(cutting):
    parts = cutting.parts

    # A task that takes longer than the broker waits: the message comes again, and is answered meanwhile.
    cutting.open("stage 0")
    cutting.come_to(1, tasks=2)
    parts.wait_for(lambda: cutting.has_answered(LONG), seconds=120)
    assert cutting.begun()[LONG] == 1
    cutting.open("long")
    cutting.come_to(1)

    lost = cutting.kill("first")
    parts.begin("first", WORK)
    cutting.open("stage 1")
    cutting.come_to(2)

    ending = cutting.end_in_good_order("second")
    cutting.open("stage 2")
    assert ending.wait(120) == 0
    parts.begin("second", WORK)
    cutting.come_to(3)

    cutting.stop_redis()
    parts.emit("orders", "paper")  # is recorded, though nobody can be told
    cutting.start_redis()
    cutting.open("stage 3")
    cutting.come_to(4)
    ended = [name for name, child in parts.running.items() if child.poll() is not None]
    assert not ended, "they outlive Redis, and what it forgets"

    cutting.make_redis_forget()
    cutting.open("stage 4")
    parts.wait_for(lambda: cutting.state() == ("done", len(KEYS)), seconds=240)
    parts.wait_for(lambda: not parts.rows(UNFINISHED))

    assert cutting.runs("cut") == dict.fromkeys([(key, "success") for key in KEYS], 1)
    assert cutting.runs("take") == {("paper", "success"): 1}
    assert Counter(key for (key,) in parts.rows(EVENTS)) == dict.fromkeys(KEYS, 1)
    assert cutting.twice_at_once() == []
    assert lost, "nothing was in the hands of the worker that was killed"
    assert {key: times for key, times in cutting.begun().items() if times > 1} == dict.fromkeys(lost, 2)


def test_lost_messages_are_sent_again_by_the_second_sweep_at_the_latest(tmp_path, redis_url):
    """Of two sweeps an interval apart, the first may find that messages are too young to be lost."""
    environment = {
        "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
        "PARTITA_DATA_DIR": str(tmp_path),
        "DATABASE_URL": "",
        "REDIS_URL": redis_url,
        "PARTITA_SWEEP_SECONDS": "1",
    }
    command = [sys.executable, "-c", SWEEP_TWICE]
    done = subprocess.run(command, env=os.environ | environment, cwd=HOME, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    sent, left, resent = json.loads(done.stdout)
    assert len(sent) == 20
    assert left == []
    assert resent == sent
