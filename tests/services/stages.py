"""200 partitions in five stages: a task goes on when the test has opened the gate of its stage.

All that happens is noted in one file, a line each, in the order in which it happens.
"""

import os
import time
from pathlib import Path

from scheduling.sdk import DAG, Asset, PartitionedAssetTimetable, PartitionedAtRuntime, task

KEYS = [f"k{number:03}" for number in range(200)]
STAGE = 40
LONG = KEYS[0]
orders, cuts = Asset("orders"), Asset("cuts")


def gate_of(key: str) -> str:
    """One key has a gate of its own: its task takes as long as the test wants."""
    return "long" if key == LONG else f"stage {KEYS.index(key) // STAGE}"


def open_gate(directory: Path, name: str) -> None:
    (directory / name).touch()


def take_note(directory: Path, *words: object) -> None:
    with (directory / "notes.txt").open("a") as file:
        file.write(" ".join(map(str, words)) + "\n")


def here() -> Path:
    return Path(os.environ["PARTITA_TEST_STAGES"])


with DAG("cut", schedule=PartitionedAtRuntime(), max_active_runs=100, max_attempts=20):

    @task(outlets=[cuts])
    def cut(partition_key):
        take_note(here(), "begin", partition_key, os.getpid())
        while not (here() / gate_of(partition_key)).exists():
            time.sleep(0.02)
        take_note(here(), "end", partition_key, os.getpid())

    cut()

with DAG("take", schedule=PartitionedAssetTimetable(orders)):

    @task
    def take(partition_key):
        return partition_key

    take()
