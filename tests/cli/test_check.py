"""`partita check`: what is wrong with definitions, before they are rolled out."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from django.utils import timezone

from core.models import Dag, JournalEntry, Pool
from partitions_site.cli import program
from scheduling import checking
from tests.engine.world import emit

HOME = Path(__file__).parents[2]

HEAD = """
from scheduling.sdk import *
hours, days = Asset(name="hours"), Asset(name="days")
"""

NEVER = """
with DAG(dag_id="daily", schedule=CronPartitionTimetable("0 0 * * *", timezone="UTC", key_format="%Y-%m-%d")):
    @task(outlets=[days])
    def write(): pass
    write()
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=days,
    default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow()))): pass
"""
WINDOW = """
with DAG(dag_id="hourly", schedule=CronPartitionTimetable("15 * * * *", timezone="UTC")):
    @task(outlets=[hours])
    def write(): pass
    write()
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=hours, default_partition_mapper=
    RollupMapper(StartOfDayMapper(input_format="%Y-%m-%dT%H:%M:%S"), DayWindow()))): pass
"""
SOME = """
regions = Asset(name="regions", partitions=StaticPartitions(["us", "cn"]))
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=regions,
    default_partition_mapper=AllowedKeyMapper(["us", "eu"]))): pass
"""
TWICE = """
orders = Asset(name="orders", uri="s3://lab/orders")
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(
    assets=Asset.ref(name="orders") & Asset.ref(uri="s3://lab/orders"))): pass
"""
REFUSED = """
DAG("bad", catchup="sometimes")
"""
SMALL = """
DAG("big", pool="narrow", pool_slots=2)
"""
POLICY = """
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=hours,
    default_partition_mapper=RollupMapper(
        StartOfDayMapper(timezone="America/New_York", input_format="%Y-%m-%dT%H:%M:%S%z"),
    DayWindow(), wait_policy=MinimumCount(24)))): pass
"""
PLAIN = """
with DAG(dag_id="reader", schedule=AssetTimetable(assets=days)): pass
"""
HOURS = """
with DAG(dag_id="hourly", schedule=CronPartitionTimetable("0 * * * *", timezone="Europe/Berlin",
    key_format="%Y-%m-%dT%H")): pass
"""
UNKNOWN = """
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=Asset.ref(name="nobody"))): pass
"""
UNHEARD = """
with DAG(dag_id="reader", schedule=PartitionedAssetTimetable(assets=Asset("daily_slaes"))): pass
with DAG(dag_id="writer", schedule=PartitionedAtRuntime()):
    @task(outlets=[Asset("daily_sales")])
    def write(): pass
    write()
"""
CIRCLE = """
with DAG(dag_id="loop", schedule=PartitionedAssetTimetable(assets=days)):
    @task(outlets=[days])
    def write(): pass
    write()
"""
FORM = """
weeks = Asset(name="weeks", partitions=DailyPartitions("2026-01-01"))
with DAG(dag_id="daily", schedule=CronPartitionTimetable("0 0 * * *", timezone="UTC")):
    @task(outlets=[weeks])
    def write(): pass
    write()
"""
KEYLESS = """
stores = Asset(name="stores", partitions=DynamicPartitions("stores"))
with DAG(dag_id="visit", schedule=None):
    @task(outlets=[stores])
    def visit(partition_key): pass
    visit()
"""
BROKEN = "nonsense ="
GOOD = """
with DAG(dag_id="hourly", schedule=CronPartitionTimetable("0 * * * *", timezone="UTC")): pass
"""


CASES = [
    (NEVER, "never-fires", "error", "reader"),
    (WINDOW, "never-fires", "error", "reader"),
    (SOME, "agreement", "warning", "reader"),
    (TWICE, "asset-twice", "error", "reader"),
    (REFUSED, "refused", "error", "bad"),
    (SMALL, "pool-too-small", "error", "big"),
    (POLICY, "policy-unreachable", "warning", "reader"),
    (PLAIN, "keyed-events", "warning", "reader"),
    (HOURS, "hours-lost", "warning", "hourly"),
    (FORM, "unexpected-keys", "warning", "daily"),
    (KEYLESS, "keyless-runs", "warning", "visit"),
    (UNKNOWN, "undefined-asset", "warning", "reader"),
    (UNHEARD, "unheard-asset", "warning", "reader"),
    (CIRCLE, "circle", "warning", "loop"),
]
"""Definitions, the code that is said of them, its level, and of which Dag."""


@pytest.fixture
def found(db, tmp_path):
    def found(text):
        path = tmp_path / "shop.py"
        path.write_text(dedent(HEAD) + dedent(text))
        return checking.check([str(path)], at=timezone.now())

    return found


class TestFindings:
    @pytest.mark.parametrize(("text", "code", "level", "subject"), CASES)
    def test_have_a_code_that_stays(self, found, text, code, level, subject):
        Pool.objects.create(name="narrow", slots=1, created_at=timezone.now(), updated_at=timezone.now())
        findings = [(each.code, each.level, each.subject) for each in found(text).findings]
        assert (code, level, subject) in findings

    def test_have_a_case_here_unless_no_file_brings_them(self):
        """Others are of what is stored, or of a plug-in that fails."""
        given = {code for _, code, _, _ in CASES}
        others = {"unreadable", "agreement-unknown", "warnings-unknown", "warning"}
        assert given | others | {"file"} == checking.CODES.keys()

    def test_of_a_file_that_cannot_be_loaded(self, found):
        [each] = found(BROKEN).findings
        assert (each.code, each.level, each.line) == ("file", "error", 4)
        assert each.subject.endswith("shop.py")

    def test_none_where_nothing_is_wrong(self, found):
        checked = found(GOOD)
        assert (checked.files, checked.dags, checked.findings) == (1, 1, ())

    def test_are_of_kinds_that_are_written_down(self, found):
        for text in (*(text for text, *_ in CASES), BROKEN):
            assert {each.code for each in found(text).findings} <= checking.CODES.keys()

    def test_a_name_that_nobody_writes_is_no_finding_where_none_is_nearly_the_same(self, found):
        told = [each.sentence for each in found(UNHEARD).findings if each.code == "unheard-asset"]
        said = "it listens to daily_slaes, which no Dag writes and nobody has reported: did you mean "
        assert told == [f"{said}daily_sales?"]
        assert found(UNHEARD.replace("daily_slaes", "reported_by_spark")).findings == ()
        emit("daily_slaes", "2026-03-09")
        assert found(UNHEARD).findings == ()

    def test_names_that_differ_in_digits_only_are_none_misspelt(self, found):
        numbered = UNHEARD.replace("daily_slaes", "daily_sales_1").replace('"daily_sales"', '"daily_sales_2"')
        assert found(numbered).findings == ()
        slip = numbered.replace("daily_sales_1", "daily_slaes_2")
        assert [each.code for each in found(slip).findings] == ["unheard-asset"]

    def test_errors_come_first(self, found):
        levels = [each.level for each in found(NEVER + PLAIN.replace("reader", "a")).findings]
        assert levels == sorted(levels)

    def test_nothing_is_kept(self, found):
        found(GOOD)
        assert not Dag.objects.exists()
        assert not JournalEntry.objects.exists()


class TestCommand:
    def check(self, *words):
        out = io.StringIO()
        return program.main(["check", *words], out), out.getvalue()

    @pytest.fixture
    def shop(self, db, tmp_path, settings):
        path = tmp_path / "shop.py"
        path.write_text(HEAD + PLAIN)
        settings.DEFINITIONS = [str(path)]
        return path

    def test_warnings_are_no_errors_unless_they_are_to_be(self, shop):
        status, told = self.check()
        assert status == 0
        assert told.splitlines()[-1] == "1 Dag in 1 file: 0 errors, 1 warning."
        assert self.check("--strict")[0] == 1
        assert self.check("--strict", "--ignore", "keyed-events")[0] == 0

    def test_an_error_exits_with_one(self, shop):
        shop.write_text(HEAD + NEVER)
        status, told = self.check()
        assert status == 1
        assert "reader: error: " in told
        assert "[never-fires]" in told

    def test_for_programs(self, shop):
        answer = json.loads(self.check("--json")[1])
        assert (answer["ok"], answer["findings"][0]["code"]) == (True, "keyed-events")

    def test_says_what_it_can_find(self, shop):
        assert "circle: Assets and Dags listen in a circle" in self.check("--codes")[1]

    def test_of_paths_needs_no_database(self, tmp_path):
        path = tmp_path / "shop.py"
        path.write_text(HEAD + NEVER)
        ran = subprocess.run(
            [sys.executable, str(HOME / "manage.py"), "partita", "check", str(path), "--json"],
            capture_output=True,
            text=True,
            env={**os.environ, "PARTITA_DATA_DIR": str(tmp_path / "none"), "TMPDIR": str(tmp_path)},
        )
        assert ran.returncode == 1, ran.stderr
        assert json.loads(ran.stdout)["findings"][0]["code"] == "never-fires"
        assert not (tmp_path / "none").exists()
        assert list(tmp_path.glob("partita-check-*")) == []
