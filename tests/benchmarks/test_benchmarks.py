"""Benchmarks that start processes still run, at a size that takes seconds; what they find is not judged."""

import os
import re
import subprocess
import sys
from urllib.parse import quote

import pytest

from tests.benchmarks import intake
from tests.benchmarks.figures import Figure, percentile, report
from tests.benchmarks.stand import MIGRATED
from tests.installed import HOME, LOGIN
from tests.services.parts import Parts

FIGURES = {"intake": 6, "bulk_intake": 4, "firing": 6, "many_ticks": 2, "fullness": 7, "memory": 4}
PEER = """
from scheduling.sdk import DAG, Asset, PartitionedAssetTimetable

DAG(dag_id="copy", schedule=PartitionedAssetTimetable(assets=Asset(name="sales")))
"""
LINE = re.compile(r"^.{60,}? +[\d.,]+ (rows/s|events/s|ms|s|x|MiB) .* \d+\.\d\d(  missed)?$")


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.timeout(280)
@pytest.mark.parametrize("name", FIGURES)
def test_it_runs_to_its_end_and_prints_its_figures(name, postgres_server, migrated, redis_url):
    assert len(tried(postgres_server, migrated, name)) == FIGURES[name]


@pytest.mark.services
@pytest.mark.slow
@pytest.mark.timeout(280)
def test_intake_is_measured_in_turns_with_a_peer_that_speaks_the_same(
    postgres_server, migrated, postgres_url, redis_url, tmp_path
):
    (tmp_path / "peer.py").write_text(PEER)
    unlimited = {"PARTITA_REQUESTS_PER_MINUTE": "1000000"}
    with Parts(tmp_path, postgres_url, redis_url, tmp_path / "peer.py", **unlimited) as peer:
        peer.prepare()
        peer.serve()
        url = f"http://{LOGIN[0]}:{quote(LOGIN[1])}@127.0.0.1:{peer.port}"
        lines = tried(postgres_server, migrated, "intake", "--airflow", url)
        assert [line.startswith("Airflow") for line in lines] == [False] * 4 + [True] * 3 + [False]
        assert lines[-1].startswith("events a second, ours by Airflow's")
        assert "≥ 6.000" in lines[-1]
        posted = peer.rows("select count(*), count(distinct partition_key) from core_assetevent")
        assert posted == [(intake.WARM_UP + intake.TURNS * intake.CLIENTS,) * 2]


def tried(server: str, migrated: str, name: str, *options: str) -> list[str]:
    """The lines of a benchmark's smallest run, each a figure, with the exit code that its bars ask for."""
    ended = subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.{name}", "--scale", "0.001", *options],
        env=os.environ | {"PARTITA_TEST_POSTGRES": server, MIGRATED: migrated},
        cwd=HOME,
        capture_output=True,
        text=True,
    )
    heading, *lines = ended.stdout.splitlines()
    assert heading.split() == ["work", "here", "bar", "CPU", "s", "load"], ended.stderr
    assert all(map(LINE.match, lines)), ended.stdout
    assert ended.returncode == any(line.endswith("missed") for line in lines), ended.stderr
    return lines


@pytest.mark.parametrize(
    ("figure", "met"),
    [
        (Figure("intake", 594, "events/s", 594), True),
        (Figure("intake", 593, "events/s", 594), False),
        (Figure("firing", 50, "ms", 50, at_most=True), True),
        (Figure("firing", 51, "ms", 50, at_most=True), False),
        (Figure("floor", 1, "rows/s"), True),
    ],
)
def test_a_missed_bar_is_said_and_told_by_the_exit_code(figure, met, capsys):
    assert report([figure]) == (not met)
    assert capsys.readouterr().out.rstrip().endswith("missed") is not met


def test_a_percentile_is_a_value_that_was_seen():
    values = [float(number) for number in range(1, 101)]
    assert [percentile(values, each) for each in (50, 99, 100)] == [50, 99, 100]
    assert percentile([3.0], 50) == percentile([3.0], 99) == 3.0
    assert percentile([9.0, 1.0, 5.0], 50) == 5.0
