"""Retries and time-outs as authors write them."""

from datetime import timedelta

import pytest

from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.attempts import LONGEST_DELAY, Attempts, attempts_of
from scheduling.sdk import DAG, task
from tests.sdk.writing import Directory, dag, sentences

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


def said(dag):
    return attempts_of(dag, Attempts())


class TestWait:
    def test_is_none_once_the_retries_are_used_up(self):
        twice = Attempts(retries=2, retry_delay=MINUTE)
        assert [twice.wait_after(failures) for failures in (1, 2, 3)] == [MINUTE, MINUTE, None]

    def test_there_is_none_unless_somebody_asks_for_retries(self):
        assert Attempts().wait_after(1) is None

    def test_grows_with_each_failure(self):
        patient = Attempts(retries=10, retry_delay=MINUTE, retry_backoff=2)
        assert [patient.wait_after(failures) for failures in (1, 2, 3, 4)] == [
            MINUTE,
            2 * MINUTE,
            4 * MINUTE,
            8 * MINUTE,
        ]

    @pytest.mark.parametrize("failures", [13, 200, 1000])
    def test_grows_to_a_day_at_most(self, failures):
        stubborn = Attempts(retries=1000, retry_delay=HOUR, retry_backoff=100)
        assert stubborn.wait_after(failures) == LONGEST_DELAY

    def test_may_be_nothing(self):
        assert Attempts(retries=1, retry_delay=timedelta(0)).wait_after(1) == timedelta(0)


class TestArguments:
    def test_say_nothing_by_default(self):
        assert said(DAG("d")) == Attempts(0, timedelta(minutes=5), 1.0, None)

    @pytest.mark.parametrize("written", ["10m", 600, 600.0, timedelta(minutes=10)])
    def test_take_spans_in_any_form(self, written):
        written_down = said(DAG("d", retries=3, retry_delay=written, run_timeout=written))
        assert written_down == Attempts(3, 10 * MINUTE, 1.0, 10 * MINUTE)

    @pytest.mark.parametrize("written", [0, timedelta(0)])
    def test_let_a_retry_follow_at_once(self, written):
        assert said(DAG("d", retries=1, retry_delay=written)).retry_delay == timedelta(0)

    @pytest.mark.parametrize(("written", "factor"), [(True, 2), (False, 1), (1, 1), (1.5, 1.5), (100, 100)])
    def test_take_a_factor_or_say_that_there_is_one(self, written, factor):
        assert said(DAG("d", retry_backoff=written)).retry_backoff == factor

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"retries": -1}, "retries is a whole number from 0 to 1000, not -1"),
            ({"retries": True}, "retries is a whole number"),
            ({"retries": 1001}, "retries is a whole number"),
            ({"retries": "3"}, "retries is a whole number"),
            ({"retry_delay": "soon"}, "retry_delay: 'soon' is not a span of time"),
            ({"retry_delay": -5}, "retry_delay: -5 is not a span of time"),
            ({"retry_backoff": 0.5}, "retry_backoff is a number from 1 to 100, not 0.5"),
            ({"retry_backoff": float("nan")}, "retry_backoff is a number"),
            ({"retry_backoff": "2"}, "retry_backoff is a number"),
            ({"run_timeout": 0}, "run_timeout: 0 is not a span of time"),
            ({"run_timeout": "1h30"}, "run_timeout: '1h30' is not a span of time; write it like 10m"),
            (
                {"run_timeout": "36501d"},
                "run_timeout: '36501d' is too long: a span of time has 36500d at most",
            ),
            ({"run_timeout": "9" * 20 + "d"}, "is too long"),
            ({"retry_delay": 1e300}, "retry_delay: 1e[+]300 is too long"),
            ({"retry_delay": -1e300}, "is not a span of time"),
            ({"retry_delay": timedelta.max}, "is too long"),
        ],
    )
    def test_that_cannot_be_are_named(self, arguments, sentence):
        with pytest.raises(InvalidDefinition, match=sentence):
            said(DAG("d", **arguments))


class TestATask:
    def test_may_say_otherwise_for_itself(self):
        own = Attempts(retries=1, retry_delay=MINUTE, retry_backoff=2, run_timeout=HOUR)
        assert own.but(retries=5) == Attempts(5, MINUTE, 2, HOUR)
        assert own.but(retry_delay="2h") == Attempts(1, 2 * HOUR, 2, HOUR)
        assert own.but() == own

    def test_is_refused_where_it_is_written(self):
        with pytest.raises(InvalidDefinition, match="retries is a whole number"):

            @task(retries=-1)
            def load():
                pass


@pytest.mark.django_db
class TestRows:
    def test_keep_what_the_definition_says(self, tmp_path):
        directory = Directory(tmp_path)
        directory.write("a", 'DAG("d", retries=3, retry_delay="30s", retry_backoff=2, run_timeout="6h")')
        assert directory.sync().ok
        row = dag("d")
        assert (row.retries, row.retry_delay, row.retry_backoff) == (3, timedelta(seconds=30), 2.0)
        assert row.run_timeout == 6 * HOUR

    def test_of_a_dag_that_was_changed_follow(self, tmp_path):
        directory = Directory(tmp_path)
        directory.write("a", 'DAG("d", retries=3, run_timeout="6h")')
        directory.sync()
        directory.write("a", 'DAG("d")')
        directory.sync()
        assert (dag("d").retries, dag("d").run_timeout) == (0, None)

    def test_stay_as_they_were_if_the_definition_cannot_be(self, tmp_path):
        directory = Directory(tmp_path)
        directory.write("a", 'DAG("d", retries=3)')
        directory.sync()
        directory.write("a", 'DAG("d", retries=-3)')
        assert not directory.sync().ok
        assert dag("d").retries == 3
        assert sentences("d") == ["retries is a whole number from 0 to 1000, not -3"]
