"""How messages are delivered where there is a broker: nothing is lost with a worker, and none is hoarded."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
TOLD = """
import django; django.setup()
import json
from partitions_site.celery import app
app.loader.import_default_modules()
conf = app.conf
print(json.dumps({
    "acks late": conf.task_acks_late,
    "again when its process died": conf.task_reject_on_worker_lost,
    "in hand": conf.worker_prefetch_multiplier,
    "results": [conf.result_backend, conf.task_ignore_result],
    "connects at the start": conf.broker_connection_retry_on_startup,
    "broker": conf.broker_transport_options,
    "limit": conf.task_time_limit,
    "queues": {name: app.amqp.router.route({}, name)["queue"].name for name in app.tasks},
    "of their own": sorted(name for name, task in app.tasks.items() if task.acks_late != conf.task_acks_late),
    "beat": {each["task"]: each["options"]["expires"] for each in conf.beat_schedule.values()},
    "tasks": sorted(app.tasks),
}))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What Celery was told; nobody connects for it."""
    ours = {
        "DJANGO_SETTINGS_MODULE": "partitions_site.settings",
        "PARTITA_DATA_DIR": str(tmp_path_factory.mktemp("delivery")),
        "DATABASE_URL": "",
        "REDIS_URL": "redis://127.0.0.1:1/0",
    }
    done = subprocess.run(
        [sys.executable, "-c", TOLD], env=os.environ | ours, cwd=HOME, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_message_is_acknowledged_when_its_work_is_done(told):
    assert told["acks late"] is True
    assert told["again when its process died"] is True
    assert told["of their own"] == [], "no task does otherwise"


def test_no_worker_has_messages_in_hand_that_another_could_do(told):
    assert told["in hand"] == 1


def test_what_a_dead_worker_had_comes_again_and_what_a_living_one_has_does_not(told):
    """A task of the engine is ended before the broker thinks that it is lost; a run has its lease."""
    broker = told["broker"]
    assert told["limit"] < broker["visibility_timeout"] <= 600
    assert broker["unacked_restore_interval"] * broker["unacked_restore_throttle"] <= 10


def test_a_broker_that_is_away_keeps_nobody(told):
    broker = told["broker"]
    assert (broker["max_retries"], broker["interval_start"]) == (1, 0)
    assert broker["socket_connect_timeout"] <= 2
    assert broker["global_keyprefix"] == "partita:"
    assert told["connects at the start"] is True


def test_nobody_waits_for_results(told):
    assert told["results"] == [None, True]


def test_runs_delay_nothing_of_the_engine(told):
    ours = {name: queue for name, queue in told["queues"].items() if name.startswith("scheduling.")}
    work = {name for name, queue in ours.items() if queue == "work"}
    assert work == {"scheduling.execute_run", "scheduling.look", "scheduling.send_alerts"}
    assert {ours[name] for name in ours.keys() - work} == {"engine"}


def test_beat_sends_what_there_is_and_nothing_that_piles_up(told):
    assert told["beat"].keys() == {"scheduling.sweep", "scheduling.advance_ticks", "scheduling.prune"}
    assert told["beat"].keys() <= set(told["tasks"])
    assert all(told["beat"].values())
