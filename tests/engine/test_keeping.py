"""What is kept of an `extra` or a `conf`, whichever way it comes."""

import math
from datetime import date, timedelta

import pytest

from core.models import AssetEvent, DagRun
from scheduling import events, keeping, runs
from scheduling.algebra.errors import InvalidDefinition
from scheduling.events import EventReport
from scheduling.keeping import NotKept
from scheduling.runs import Ask
from tests.engine.executing import defined, emitted, run
from tests.engine.world import ALICE, NOW, RUNTIME, asset, dag, part

WRITER = """
    def nest(levels): return {"a": nest(levels - 1)} if levels else 1

    out = Asset("out")
    with DAG("d", schedule=PartitionedAtRuntime()):
        @task(outlets=[out])
        def write(outlet_events): {said}
"""


def nest(levels: int):
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


class TestCheck:
    @pytest.mark.parametrize(
        "value",
        [
            {},
            {"rows": 41_233, "mean": 1.5, "late": False, "by": None},
            {"path": "C:\\u0000", "said": "\\ud800", "city": "Žalec"},
            {"tags": ["a", ("b", None)], 1: 2},
            nest(keeping.LEVELS),
            {"a": "ž" * 32_760},
        ],
    )
    def test_passes_what_can_be_kept(self, value):
        keeping.check(value, "it")

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ([1], "it is a dictionary, not list"),
            ({"a": {1}}, "it is not JSON: Object of type set is not JSON serializable"),
            ({"a": math.nan}, "it is not JSON: "),
            ({"a": 10**5000}, "it is not JSON: "),
            ({"a": "x\0"}, "it holds a character that cannot be stored: "),
            ({"a": ("x", "\ud800")}, "it holds a character that cannot be stored: "),
            (nest(keeping.LEVELS + 1), "it is nested more than 10 levels deep"),
            (nest(600), "it is nested more than 10 levels deep"),
            (nest(100_000), "it is nested more than 10 levels deep"),
            ({"a": ["x" * 70_000]}, "it has 70011 bytes as JSON: at most 65536 are kept"),
            ({"a": "ž" * 32_768}, "it has 65545 bytes as JSON: at most 65536 are kept"),
        ],
    )
    def test_names_what_cannot(self, value, sentence):
        with pytest.raises(NotKept) as refused:
            keeping.check(value, "it")
        assert str(refused.value).startswith(sentence)

    def test_asks_the_setting(self, settings):
        settings.EXTRA_LIMIT = 20
        keeping.check({"a": "b" * 10}, "it")
        with pytest.raises(NotKept, match="at most 20 are kept"):
            keeping.check({"a": "b" * 13}, "it")


class TestCheckDefined:
    """The same questions, asked of what is written as JSON later and shown on a page of its own."""

    def test_passes_what_an_author_may_write(self):
        day, span = date(2026, 3, 10), timedelta(hours=6)
        keeping.check_defined({"start": day, "late_after": span, "tags": ("a", None, 1.5)}, "it")
        keeping.check_defined("x" * 70_000, "it")
        keeping.check_defined(nest(keeping.LEVELS_OF_DEFINITIONS), "it")

    @pytest.mark.parametrize(
        ("value", "sentence"),
        [
            ({"a": {1}}, "it holds what is no JSON: {1}"),
            (math.nan, "it holds what is no JSON: nan"),
            ({"a\0": 1}, "it holds a character that cannot be stored: 'a\\x00'"),
            (nest(keeping.LEVELS_OF_DEFINITIONS + 1), "it is nested more than 40 levels deep"),
            (nest(100_000), "it is nested more than 40 levels deep"),
        ],
    )
    def test_refuses_what_cannot_be_kept(self, value, sentence):
        with pytest.raises(InvalidDefinition) as refused:
            keeping.check_defined(value, "it")
        assert str(refused.value) == sentence


@pytest.mark.django_db
class TestEntrance:
    @pytest.mark.parametrize(
        ("said", "sentence"),
        [
            ("outlet_events[out].extra = nest(600)", "the extra of out is nested more than 10 levels deep"),
            ("outlet_events[out].add_partitions('k', nest(11))", "the extra of out is nested more than 10"),
            ("outlet_events[out].extra = {'a': 'x' * 100_000}", "the extra of out has 100009 bytes as JSON"),
        ],
    )
    def test_of_a_task_fails_its_run(self, directory, said, sentence):
        defined(directory, WRITER.replace("{said}", said))
        ended = run(key="k")
        assert ended.state == "failed"
        assert sentence in ended.error.splitlines()[-1]
        assert emitted(ended) == []

    def test_of_a_task_fails_its_run_for_what_is_too_long_together(self, directory):
        first, second = "extra = {'a': 'x' * 40_000}", "add_partitions('k', {'b': 'x' * 40_000})"
        said = f"outlet_events[out].{first}; outlet_events[out].{second}"
        defined(directory, WRITER.replace("{said}", said))
        ended = run(key="k")
        assert (ended.state, emitted(ended)) == ("failed", [])
        assert ended.error.startswith("the extra of out has 800")

    def test_of_a_task_keeps_no_secrets(self, directory):
        first = "extra = {'password': 'hunter2', 'rows': 5}"
        second = "add_partitions('k', {'deep': ({'api_key': 'hunter2'},), 'token': 7})"
        defined(
            directory, WRITER.replace("{said}", f"outlet_events[out].{first}; outlet_events[out].{second}")
        )
        kept = {"password": "***", "rows": 5, "deep": [{"api_key": "***"}], "token": 7}
        assert emitted(run(key="k")) == [("out", "k", kept)]
        assert part("out", "k").extra == kept

    def test_of_a_report_keeps_no_secrets(self):
        report = EventReport(asset("a"), "k", {"password": "hunter2"}, marks={"by_hand": True})
        events.register_events([report], source=events.Source.PERSON, deed=ALICE, at=NOW)
        assert AssetEvent.objects.get().extra == {"password": "***", "by_hand": True}

    def test_of_a_report_with_secrets_may_come_twice(self):
        report = EventReport(asset("a"), "k", {"password": "hunter2"}, "once")
        for is_new in (True, False):
            [told] = events.register_events([report], source=events.Source.PERSON, deed=ALICE, at=NOW)
            assert told.is_new is is_new

    def test_of_a_report_refuses_all_of_them(self):
        reports = [EventReport(asset("a"), key, extra) for key, extra in [("k", {}), ("l", nest(11))]]
        with pytest.raises(NotKept, match="event 1: the extra of a is nested more than 10 levels deep"):
            events.register_events(reports, source=events.Source.PERSON, deed=ALICE, at=NOW)
        assert not AssetEvent.objects.exists()

    def test_of_a_trigger_refuses_its_conf(self):
        with pytest.raises(NotKept, match="the conf for Dag d is nested more than 10 levels deep"):
            runs.trigger(dag("d", RUNTIME), Ask("k", nest(11)), deed=ALICE, at=NOW)
        assert not DagRun.objects.exists()
