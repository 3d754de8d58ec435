"""Runs that are sent to an HTTP address: a real one, on this machine."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from core.models import AssetEvent, Dag, DagRun, JournalEntry, LogLine
from scheduling import claims, elsewhere, execution, runs, webhooks
from scheduling.elsewhere import NotWithYou
from scheduling.reports import Report
from scheduling.runs import Ask
from tests.engine.world import ALICE, NOW, part, start
from tests.executors import receiver as replies
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)
SECRET = "correct horse battery"


@pytest.fixture
def define(directory: Directory, receiver):
    """Defines Dag `d`, whose runs go to the receiver; `more` is for the Dag, `hook` for the Webhook."""

    def define(more="", hook="", url=""):
        directory.write(
            "a",
            f"""
            DAG("d", schedule=PartitionedAtRuntime(), outlets=[Asset("out"), Asset("aside")],
                executor=Webhook("{url or receiver.url}", secret="{SECRET}"{hook}){more})
            """,
        )
        report = directory.sync()
        assert report.ok, report.troubles

    return define


def trigger(key="k", **ask):
    return runs.trigger(Dag.objects.get(dag_id="d"), Ask(key, **ask), deed=ALICE, at=NOW)


def send(run, at=NOW):
    """One attempt at the run, as a worker makes it."""
    execution.execute(start(DagRun.objects.get(pk=run.pk), at=at), clock=lambda: at)
    return again(run)


def again(run):
    return DagRun.objects.select_related("dag").get(pk=run.pk)


def emitted():
    rows = AssetEvent.objects.order_by("asset__name", "pk")
    return list(rows.values_list("asset__name", "partition_key", "extra"))


def log(run):
    return list(LogLine.objects.filter(run=run).values_list("text", flat=True))


class TestRequest:
    def test_tells_what_the_run_is_for(self, define, receiver):
        define()
        run = send(trigger("2026-03-10|tw", conf={"city": "Žalec"}))
        [request] = receiver.requests
        assert request.headers["content-type"] == "application/json"
        callback = request.json["callback"]
        assert {name: value for name, value in request.json.items() if name != "callback"} == {
            "id": run.pk,
            "dag_id": "d",
            "run_id": run.run_id,
            "run_type": "manual",
            "attempt": 1,
            "partition_key": "2026-03-10|tw",
            "partition_keys": ["2026-03-10|tw"],
            "partition_date": None,
            "conf": {"city": "Žalec"},
            "outlets": ["aside", "out"],
        }
        assert callback["url"] == f"http://127.0.0.1:8000/api/v2/runs/{run.pk}/callback"
        assert callback["within_seconds"] == 3600

    def test_is_signed_with_the_time_of_sending(self, define, receiver):
        define()
        send(trigger(), at=datetime(2026, 3, 11, 9, 10, 0, 999, tzinfo=UTC))
        [request] = receiver.requests
        sent_at = request.headers["x-partita-timestamp"]
        assert sent_at == "1773220200"
        expected = hmac.new(SECRET.encode(), sent_at.encode() + b"." + request.body, hashlib.sha256)
        assert request.headers["x-partita-signature"] == f"sha256={expected.hexdigest()}"

    def test_carries_the_headers_that_the_definition_names_and_signs_all_the_same(self, define, receiver):
        define(hook=', headers={"Authorization": "Bearer abc", "X-Partita-Signature": "forged"}')
        send(trigger())
        headers = receiver.requests[0].headers
        assert headers["authorization"] == "Bearer abc"
        assert headers["x-partita-signature"].startswith("sha256=")

    def test_leaves_its_secret_nowhere(self, define, receiver):
        define()
        receiver.replies = [(500, "no")]
        run = send(trigger())
        everything = [
            list(model.objects.values()) for model in (Dag, DagRun, LogLine, JournalEntry, AssetEvent)
        ]
        assert SECRET not in str(everything)
        assert "hook=7" not in str(everything), "a query may hold one as well"
        assert run.state == "queued"


class TestSuccess:
    @pytest.mark.parametrize("reply", [(200, None), (201, {"state": "odd"}), (204, None), (200, b"<html>")])
    def test_is_any_2xx_but_one(self, define, receiver, reply):
        define()
        receiver.replies = [reply]
        run = send(trigger())
        assert (run.state, run.error) == ("success", "")
        assert emitted() == [("aside", "k", {}), ("out", "k", {})]
        assert part("out", "k").state == "materialized"

    def test_may_say_what_was_written(self, define, receiver):
        define()
        outputs = [
            {"asset": "out", "keys": {"a": {"rows": 1}, "b": {}}, "extra": {"by": "etl"}},
            {"asset": "aside", "keys": []},
        ]
        receiver.replies = [(200, {"outputs": outputs})]
        send(trigger())
        assert emitted() == [("out", "a", {"by": "etl", "rows": 1}), ("out", "b", {"by": "etl"})]

    def test_without_a_key_writes_only_what_is_named(self, define, receiver):
        define()
        receiver.replies = [(200, None), (200, {"outputs": [{"asset": "out", "keys": ["tw"]}]})]
        send(trigger(None))
        assert emitted() == []
        send(trigger(None))
        assert emitted() == [("out", "tw", {})]

    @pytest.mark.parametrize(
        ("outputs", "sentence"),
        [
            ("all", "outputs is a list"),
            ([{"asset": "else"}], "else is not an outlet of Dag d, whose outlets are: "),
            ([{"asset": "out", "keys": [" "]}], "cannot be recorded"),
            ([{"asset": "out", "keys": "k"}], "the keys of out are a list"),
            ([{"asset": "out", "extra": [1]}], "the extra of out is a dictionary"),
            ([{"asset": "out", "rows": 1}], """an output has "asset", "keys" and "extra", not 'rows'"""),
            ([{"keys": ["k"]}], """the name of an "asset\""""),
            ([{"asset": "out"}, {"asset": "out"}], "outputs name out twice"),
        ],
    )
    def test_that_makes_no_sense_is_a_failure(self, define, receiver, outputs, sentence):
        define()
        receiver.replies = [(200, {"outputs": outputs})]
        run = send(trigger())
        assert run.state == "queued"
        assert run.error.startswith(f"what {receiver.url.split('?')[0]} answered cannot be recorded: ")
        assert sentence in run.error
        assert emitted() == []


class TestFailure:
    def test_is_anything_else_and_tried_again_later_and_later(self, define, receiver):
        define()
        receiver.replies = [(500, b"out of \x00 disk"), (404, None), replies.go_elsewhere, (200, None)]
        run, at, waits = trigger(), NOW, []
        for _ in range(3):
            failed = send(run, at)
            assert failed.state == "queued"
            waits.append((failed.run_after - at).total_seconds())
            at = failed.run_after
        assert waits == [10, 20, 40]
        assert send(run, at).state == "success"
        assert [request.json["attempt"] for request in receiver.requests] == [1, 2, 3, 4]

    def test_shows_what_was_answered(self, define, receiver):
        define()
        receiver.replies = [(500, b"out of \x00 disk" + b"x" * 5000)]
        run = send(trigger())
        assert run.error.startswith(f"{receiver.url.split('?')[0]} answered 500: out of \ufffd disk")
        assert len(run.error) < 1200
        assert log(run)[-1] == "The run will be tried again from 2026-03-11 09:10:10 UTC on."

    def test_is_final_when_the_dag_wants_no_more(self, define, receiver):
        define(more=", retries=0")
        receiver.replies = [(503, None)]
        assert send(trigger()).state == "failed"
        assert part("out", "k").state == "failed"

    def test_is_also_an_address_that_nobody_answers(self, define, receiver):
        define(hook=", timeout=0.2")
        receiver.replies = [replies.drip]
        run = send(trigger())
        assert (run.state, "no answer within 0.2 seconds" in run.error) == ("queued", True)

    def test_is_final_for_a_network_that_is_closed(self, define, receiver, settings):
        define()
        settings.WEBHOOK_NETWORKS = []
        run = send(trigger())
        assert run.state == "failed"
        assert "PARTITA_WEBHOOK_NETWORKS" in run.error
        assert receiver.requests == []


class TestCallback:
    @pytest.fixture
    def waiting(self, define, receiver):
        define(hook=', callback_within="20m"')
        receiver.replies = [(202, None)]
        return send(trigger())

    def test_is_waited_for_without_a_worker(self, waiting, receiver):
        assert (waiting.state, waiting.is_elsewhere) == ("running", True)
        assert waiting.claimed_by == f"webhook {receiver.url.split('/')[2]}"
        assert waiting.lease_until == NOW + timedelta(minutes=20)
        assert part("out", "k").state == "running"

    def test_ends_the_run(self, waiting):
        elsewhere.finish(waiting, None, Report(), at=NOW, log="all done\nindeed")
        assert again(waiting).state == "success"
        assert emitted() == [("aside", "k", {}), ("out", "k", {})]
        assert log(waiting)[-2:] == ["all done", "indeed"]

    def test_of_a_failure_lets_it_be_tried_again(self, waiting, receiver):
        elsewhere.finish(waiting, None, Report(error="no space"), at=NOW)
        assert (again(waiting).state, again(waiting).error) == ("queued", "no space")
        send(waiting, at=NOW + 10 * SECOND)
        assert again(waiting).attempt == 2

    def test_that_says_it_goes_on_is_worth_another_while(self, waiting):
        at = NOW + timedelta(minutes=15)
        elsewhere.keep(waiting, None, now=at, lease=webhooks.wait_of(waiting))
        assert again(waiting).lease_until == at + timedelta(minutes=20)

    def test_that_never_comes_means_another_attempt(self, waiting, receiver):
        late = NOW + timedelta(minutes=21)
        assert claims.take_over_lost(now=late) == 1
        assert again(waiting).state == "queued"
        send(waiting, at=late)
        assert [request.json["attempt"] for request in receiver.requests] == [1, 2]
        tokens = {request.json["callback"]["token"] for request in receiver.requests}
        assert len(tokens) == 2, "the old one counts no more"
        assert not webhooks.is_token_of(again(waiting), receiver.requests[0].json["callback"]["token"])

    def test_is_not_waited_for_after_a_cancellation(self, waiting):
        runs.cancel(waiting, deed=ALICE, at=NOW)
        assert again(waiting).state == "cancelled"
        with pytest.raises(NotWithYou, match="has ended: cancelled; stop working on it"):
            elsewhere.finish(waiting, None, Report(), at=NOW)
        assert emitted() == []

    def test_counts_once(self, waiting):
        elsewhere.finish(waiting, None, Report(), at=NOW)
        with pytest.raises(NotWithYou, match="has ended: success"):
            elsewhere.finish(again(waiting), None, Report(), at=NOW)
        assert len(emitted()) == 2

    def test_token_stands_for_one_attempt_even_after_a_retry_by_hand(self, waiting, receiver):
        """Which counts attempts from one again."""
        elsewhere.finish(waiting, None, Report(), at=NOW)
        runs.retry(again(waiting), deed=ALICE, at=NOW + SECOND)
        second = send(waiting, at=NOW + SECOND)
        first = receiver.requests[0].json["callback"]["token"]
        assert (second.attempt, webhooks.is_token_of(second, first)) == (1, False)


@pytest.mark.django_db(transaction=True)
class TestOrder:
    def test_a_callback_may_come_before_the_answer_that_promises_it(self, define, receiver):
        def call_back_at_once(handler, request):
            try:
                run = again(DagRun.objects.get())
                elsewhere.finish(run, None, Report(), at=NOW)
            finally:
                connection.close()
            handler.send_response(202)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        define()
        receiver.replies = [call_back_at_once]
        run = send(trigger())
        assert (run.state, run.is_elsewhere) == ("success", False)
        assert len(emitted()) == 2

    def test_somebody_may_cancel_while_it_is_sent(self, define, receiver):
        def cancelled(handler, request):
            try:
                runs.cancel(DagRun.objects.get(), deed=ALICE, at=NOW)
            finally:
                connection.close()
            handler.send_response(202)
            handler.send_header("Content-Length", "0")
            handler.end_headers()

        define()
        receiver.replies = [cancelled]
        assert send(trigger()).state == "cancelled"
