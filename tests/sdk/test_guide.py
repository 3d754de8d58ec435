"""The samples of docs/definitions.md are definition files that load."""

import re
from pathlib import Path

import pytest

from scheduling.authoring import tasks
from scheduling.authoring.dags import DAG
from scheduling.authoring.sensors import Look
from tests.sdk.writing import Directory, dag, listens, sentences, writes

GUIDE = (Path(__file__).parents[2] / "docs" / "definitions.md").read_text()
SAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)

pytestmark = pytest.mark.django_db


def test_every_sample_loads_beside_the_others(directory: Directory):
    for number, sample in enumerate(SAMPLES):
        (directory.path / f"sample_{number}.py").write_text(sample)
    report = directory.sync()
    assert report.troubles == ()
    assert (report.files, report.dags) == (6, 6)
    assert writes("ingest_orders") == [("store", "hourly_orders")]
    assert listens("daily_orders") == [("hourly_orders", "RollupMapper"), (None, "IdentityMapper")]
    assert sentences("daily_orders", "warning") == [
        "nothing defines asset daily_targets yet: its events cannot arrive"
    ]
    assert dag("regions").is_partitioned


def test_the_table_names_every_parameter_that_a_run_fills_in():
    [table] = re.findall(r"\| parameter \|.*?\n\n", GUIDE, re.DOTALL)
    named = set(re.findall(r"\w+", table))
    assert tasks.GIVEN | {"self"} <= named


def test_the_table_names_every_argument_of_a_dag():
    [table] = re.findall(r"\| argument \|.*?\n\n", GUIDE, re.DOTALL)
    arguments = {field.name for field in DAG.__dataclass_fields__.values() if field.init} - {"dag_id"}
    assert arguments <= set(re.findall(r"\w+", table))


def test_the_table_names_everything_that_a_look_offers():
    [table] = re.findall(r"\| of `look` \|.*?\n\n", GUIDE, re.DOTALL)
    offered = {name for name in vars(Look) if not name.startswith("_")}
    assert offered - {"reports", "triggers", "key_changes", "sentence"} <= set(re.findall(r"\w+", table))
