"""Every recorded answer is given the same, or otherwise by a rule that says why."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conformance import facts, table
from tests.conformance.__main__ import tell
from tests.conformance.dagster import DIFFERENCES
from tests.conformance.report import LEFT_OUT, judge, summary
from tests.conformance.rules import RULES
from tests.conformance.vectors import Vector, read

RECORDED = Path(__file__).parent / "airflow-vectors.json"
CLASSES = sorted({vector.kind for vector in read(RECORDED)})


@pytest.fixture(scope="module")
def judged(django_db_setup, django_db_blocker):
    """All of them, once; worlds are played in the database and leave nothing there."""
    with django_db_blocker.unblock():
        return list(judge(read(RECORDED)))


@pytest.mark.parametrize("kind", CLASSES)
def test_no_answer_of_a_class_is_wrong(kind, judged):
    wrong = [each for each in judged if each.vector.kind == kind and each.verdict == "wrong"]
    assert not wrong, "\n".join(summary(wrong))


class TestTheRun:
    def test_asks_everything_but_what_is_left_out_by_name(self, judged):
        left_out = {each.vector.op for each in judged if each.verdict == "left out" and not facts_alias(each)}
        assert left_out - {"scenario"} <= set(LEFT_OUT)

    def test_most_answers_are_the_same(self, judged):
        counts = Counter(each.verdict for each in judged)
        assert counts["same"] > 4 * counts["differs"]

    def test_differences_without_a_quirk_are_few_and_of_few_rules(self, judged):
        """What the recorder found nothing wrong with differs only where a definition is refused sooner, or a
        key is read more strictly."""
        plain = Counter(
            each.reason for each in judged if each.verdict == "differs" and not each.vector.quirks
        )
        assert set(plain) <= {
            "formats read back",
            "keys are keys everywhere",
            "arguments are checked",
            "windows fit their mapper",
            "windows keep their members apart",
            "fan-outs fit their window",
            "fan-outs write whole keys",
            "crons are read when defined",
            "segments meet in one key",
            "links are checked",
            "offsets in sub-day keys",
            "nested rollups wait",
            "both manners of upstream mapper",
            "one spelling of a key",
            "dates come from keys",
            "assets without partitions are there",
            "run ids are free",
        }
        assert sum(plain.values()) < 150


class TestWorlds:
    def counts(self, judged):
        return Counter(each.verdict for each in judged if each.vector.op == "scenario")

    def test_are_played_but_for_what_only_airflow_has(self, judged):
        counts = self.counts(judged)
        assert counts["wrong"] == 0
        assert counts["same"] > 80
        assert counts["same"] + counts["differs"] > 4 * counts["left out"]

    def test_that_are_left_out_are_so_for_a_step_or_an_alias(self, judged):
        reasons = {
            each.reason for each in judged if each.vector.op == "scenario" and each.verdict == "left out"
        }
        assert {reason for reason in reasons if "step of Airflow's own" not in reason} <= {
            "asset aliases do not exist here"
        }

    def world(self, *steps):
        dags = {"c": {"schedule": {"type": "PartitionedAssetTimetable", "assets": {"asset": "a"}}}}
        return {"op": "scenario", "scenario": {"assets": ["a"], "dags": dags, "steps": list(steps)}}

    EVENT, TICK = {"do": "event", "asset": "a", "key": "k"}, {"do": "tick"}
    RUN = {
        "dag": "c",
        "key": "k",
        "partition_date": None,
        "run_type": "asset_triggered",
        "source_keys": ["k"],
    }
    TARGET = {"targets": [{"dag": "c", "key": "k"}], "audit": []}

    @pytest.mark.django_db
    def test_that_end_otherwise_are_wrong(self):
        case = self.world(self.EVENT, self.TICK)
        right = {"steps": [self.TARGET, {"runs": [self.RUN]}], "pending": []}
        late = {"steps": [self.TARGET, {"runs": []}], "pending": []}
        judged = judge([Vector("right", "", case, right), Vector("late", "", case, late)])
        assert [each.verdict for each in judged] == ["same", "wrong"]

    @pytest.mark.django_db
    def test_that_differ_before_a_pause_are_not_excused_by_it(self):
        case = self.world(self.EVENT, {"do": "pause", "dag": "c"})
        before = {"steps": [{"targets": [], "audit": []}, {}], "pending": []}
        [judged] = judge([Vector("before", "", case, before)])
        assert judged.verdict == "wrong"


class TestTheCommand:
    def run(self, *files):
        command = [sys.executable, "-m", "tests.conformance", *map(str, files)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_ends_well_on_what_was_recorded(self, tmp_path):
        """A few of each class, in a file of the same form: all of them are judged above."""
        recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
        of_class = [
            [each for each in recorded["vectors"] if each.get("class", "") == kind] for kind in CLASSES
        ]
        few = [each for cases in of_class for each in cases[:: max(1, len(cases) // 5)]]
        (tmp_path / "few.json").write_text(json.dumps(recorded | {"vectors": few}), encoding="utf-8")
        ended = self.run(tmp_path / "few.json")
        assert ended.returncode == 0, ended.stdout[-3000:]
        assert "wrong:" not in ended.stdout

    def test_says_how_it_is_used(self):
        assert self.run().returncode == 2


@pytest.mark.django_db
class TestWhatItTells:
    @pytest.fixture
    def told(self, tmp_path, capsys):
        """The exit code and what is printed for vectors of our own."""

        def of(*vectors):
            (tmp_path / "made.json").write_text(json.dumps(list(vectors)), encoding="utf-8")
            return tell([str(tmp_path / "made.json")]), capsys.readouterr().out

        return of

    def vector(self, id, case, expect):
        return {"id": id, "class": "made-up", "case": case, "expect": expect}

    def test_takes_a_file_never_seen_and_lists_what_is_wrong(self, told):
        case = {"op": "to_downstream", "mapper": {"type": "StartOfDayMapper"}, "key": "2031-05-06T07:08:09"}
        status, said = told(
            self.vector("good-1", case, {"keys": ["2031-05-06"], "many": False}),
            self.vector("bad-1", case, {"keys": ["2031-05-07"], "many": False}),
        )
        assert status == 1
        assert "bad-1" in said
        assert "good-1" not in said

    def test_an_answer_that_should_have_failed_is_wrong(self, told):
        case = {"op": "to_downstream", "mapper": {"type": "IdentityMapper"}, "key": "a"}
        expect = {"error": {"stage": "call", "type": "ValueError", "base": "ValueError"}}
        assert told(self.vector("x", case, expect))[0] == 1

    def test_an_error_at_another_stage_is_wrong(self, told):
        case = {"op": "construct", "mapper": {"type": "ProductMapper", "mappers": []}}
        expect = {"error": {"stage": "call", "type": "TypeError", "base": "TypeError"}}
        assert told(self.vector("x", case, expect))[0] == 1

    def test_an_operation_unknown_here_is_left_out_by_name(self, told):
        status, said = told(self.vector("x", {"op": "teleport"}, {"ok": True}))
        assert status == 0
        assert "teleport" in said


class TestFacts:
    """The rules stand on these, so they are held by examples of their own."""

    @pytest.mark.parametrize(
        "text", ["%Y-%m-%d", "%Y-%m-%d (W%V)", "%G-W%V", "%y%m%d", "%B %Y", "%Y-Q{quarter}"]
    )
    def test_sees_formats_that_read_back(self, text):
        assert facts.reads_back(text, "")

    @pytest.mark.parametrize(
        "text", ["%Y-W%V", "%m-%d", "%A", "%H", "x", "", "%", "{x}", "%Y %Y", "week %W of %Y"]
    )
    def test_sees_formats_that_do_not(self, text):
        assert not facts.reads_back(text, "")

    def test_sees_formats_that_give_several_periods_one_name(self):
        assert facts.reads_back("%Y-%m", "month")
        assert not facts.reads_back("%Y-%m", "day")

    def test_tells_a_sloppy_key(self):
        assert facts.spelled("%Y-%m-%d", "2024-3-1") == "2024-03-01"
        assert facts.spelled("%Y-%m-%d", "x") is None
        assert facts.wrong_week("2024-03-11 (W99)")
        assert not facts.wrong_week("2024-03-11 (W11)")

    def test_sees_links_that_cannot_be_read(self):
        hour, day = {"type": "StartOfHourMapper"}, {"type": "StartOfDayMapper"}
        assert facts.unread(hour, day)
        assert not facts.unread(hour, {**day, "input_format": "%Y-%m-%dT%H"})
        assert not facts.unread({"type": "IdentityMapper"}, day)


class TestThePage:
    def test_is_what_the_rules_say(self):
        assert table.PAGE.read_text(encoding="utf-8") == table.text(), "run python -m tests.conformance.table"

    def test_names_every_rule(self):
        page = table.text()
        assert all(rule.name in page for rule in RULES)
        assert len({rule.name for rule in RULES}) == len(RULES)

    @pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda each: each.name)
    def test_what_it_says_about_dagster_is_so(self, difference):
        assert difference.shown()


def facts_alias(judgement):
    return "alias" in judgement.reason
