"""Who does the work, as authors say it."""

from datetime import timedelta

import pytest

from core.models import Dag, DefinitionSource, JournalEntry
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.attempts import Attempts
from scheduling.authoring.executors import executor_of
from scheduling.authoring.terms import terms_of
from scheduling.sdk import DAG, Asset, External, Python, Webhook
from tests.sdk.writing import Directory, dag, sentences, writes

URL = "https://etl.example.org/load?key=hidden"
SECRET = "correct horse battery"


def hook(url=URL, secret=SECRET, **fields):
    return Webhook(url, secret=secret, **fields)


class TestExecutor:
    @pytest.mark.parametrize(
        ("written", "executor"),
        [
            ("python", Python()),
            (Python(), Python()),
            ("external", External()),
            (External(), External()),
            (hook(), hook()),
        ],
    )
    def test_is_a_value_or_a_name(self, written, executor):
        assert executor_of(written) == executor

    @pytest.mark.parametrize("written", ["webhook", "celery", None, 7, Webhook, ["python"]])
    def test_is_nothing_else(self, written):
        with pytest.raises(InvalidDefinition, match='an executor is "python", "external"'):
            executor_of(written)

    def test_says_how_often_to_try_if_the_dag_does_not(self):
        assert terms_of(DAG("d")).attempts == Attempts()
        said = terms_of(DAG("d", executor=hook())).attempts
        assert (said.retries, said.retry_delay, said.retry_backoff) == (5, timedelta(seconds=10), 2)
        said = terms_of(DAG("d", executor=hook(), retries=1, retry_delay="1m", retry_backoff=1)).attempts
        assert said == Attempts(1, timedelta(minutes=1), 1.0)


class TestWebhook:
    def test_tells_no_secrets(self):
        one = hook(headers={"Authorization": "Bearer very-secret"})
        shown = f"{one!r} {one.told()}"
        assert one.told() == {
            "url": "https://etl.example.org/load",
            "timeout": 30.0,
            "callback_within": 3600.0,
        }
        assert SECRET not in shown
        assert "very-secret" not in shown

    @pytest.mark.parametrize(
        ("fields", "sentence"),
        [
            ({"url": "ftp://example.org"}, "the url of a Webhook begins with http:// or https://"),
            ({"url": "example.org/load"}, "the url of a Webhook begins"),
            ({"url": "https://"}, "the url of a Webhook begins"),
            ({"url": "https://example.org:port/"}, "the url of a Webhook begins"),
            ({"url": "https://example.org/a b"}, "the url of a Webhook begins"),
            ({"url": "https://example.org/\r\nX: y"}, "the url of a Webhook begins"),
            ({"url": "https://exämple.org/"}, "the url of a Webhook begins"),
            ({"url": None}, "the url of a Webhook begins"),
            ({"url": "https://me:pass@example.org/"}, "the url of a Webhook holds no password"),
            ({"secret": "short"}, "the secret of a Webhook has 8 characters or more"),
            ({"secret": None}, "the secret of a Webhook"),
            ({"timeout": 0}, "timeout of a Webhook: 0 is not a span of time"),
            ({"callback_within": "later"}, "callback_within of a Webhook: 'later' is not"),
            ({"headers": {"X": "one\ntwo"}}, "headers of a Webhook are names and values"),
            ({"headers": {"X": 1}}, "headers of a Webhook"),
            ({"headers": ["X"]}, "headers of a Webhook"),
        ],
    )
    def test_is_checked(self, fields, sentence):
        with pytest.raises(InvalidDefinition, match=sentence):
            executor_of(hook(**fields))

    def test_that_cannot_be_spoils_no_file(self):
        """It is refused when its Dag is looked at, not where it is written."""
        DAG("d", executor=hook(url="nonsense"))


class TestOutlets:
    def test_are_what_is_written_elsewhere(self):
        dag = DAG("d", executor=External(), outlets=[Asset("a"), Asset("b")])
        assert terms_of(dag).tasks() == [
            {"task_id": "external", "upstream": [], "outlets": ["a", "b"], "inlets": []}
        ]

    def test_of_python_belong_to_tasks(self):
        with pytest.raises(InvalidDefinition, match=r"outlets of a task: @task\(outlets=…\)"):
            terms_of(DAG("d", outlets=[Asset("a")]))


@pytest.mark.django_db
class TestRows:
    def test_hold_what_may_be_shown_and_no_secret(self, directory: Directory):
        directory.write(
            "a",
            f"""
            DAG("d", executor=Webhook("{URL}", secret="{SECRET}", headers={{"X-Key": "very-secret"}}),
                outlets=[Asset("out")])
            """,
        )
        assert directory.sync().ok
        row = dag("d")
        assert (row.executor, row.executor_terms["url"]) == ("webhook", "https://etl.example.org/load")
        assert writes("d") == [("webhook", "out")]
        everything = [list(model.objects.values()) for model in (Dag, DefinitionSource, JournalEntry)]
        assert not [word for word in (SECRET, "very-secret", "hidden") if word in str(everything)]

    def test_follow_a_change(self, directory: Directory):
        directory.write("a", 'DAG("d", executor="external")')
        directory.sync()
        assert dag("d").executor == "external"
        directory.write("a", 'DAG("d")')
        directory.sync()
        assert (dag("d").executor, dag("d").executor_terms) == ("python", {})

    def test_of_an_asset_made_elsewhere(self, directory: Directory):
        directory.write(
            "a",
            """
            @asset(schedule=PartitionedAtRuntime(), executor="external")
            def sales(): pass
            """,
        )
        assert directory.sync().ok
        assert (dag("sales").executor, writes("sales")) == ("external", [("sales", "sales")])

    def test_stay_as_they_were_if_the_executor_cannot_be(self, directory: Directory):
        directory.write("a", 'DAG("d", executor=Webhook("nonsense", secret="long enough"))')
        assert not directory.sync().ok
        assert sentences("d") == [
            "the url of a Webhook begins with http:// or https:// and a host, not 'nonsense'"
        ]
        assert dag("d").executor == "python"
