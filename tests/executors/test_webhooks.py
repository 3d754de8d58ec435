"""Runs that are sent to an HTTP address: a real one, on this machine."""

import hashlib
import hmac
from datetime import UTC, datetime, timedelta
from functools import reduce

import pytest

from core.models import AssetEvent, Dag, DagRun, JournalEntry, LogLine
from scheduling import outbound
from tests.engine.world import NOW, part
from tests.executors import receiver as replies
from tests.executors.sending import SECRET, emitted, log, send, trigger

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)
MANY = [f"{'k' * 200}{number}" for number in range(9000)]
NESTED = reduce(lambda value, _: {"a": value}, range(600), {})


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
    @pytest.mark.parametrize(
        "reply",
        [(200, None), (201, {"state": "odd"}), (204, None), (200, b"<html>"), (200, [1]), replies.empty_json],
    )
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
            ([{"asset": "out", "extra": NESTED}], "the extra of out is nested more than 10 levels deep"),
            (
                [{"asset": "out", "keys": {"k": NESTED}}],
                "the extra of out is nested more than 10 levels deep",
            ),
            ([{"asset": "out", "extra": {"a": "x" * 100_000}}], "the extra of out has 100009 bytes as JSON"),
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

    @pytest.mark.parametrize(
        ("reply", "sentence"),
        [
            ((200, b'{"outputs": [{"asset": "out", "keys": ["k'), "it is not JSON: Unterminated string"),
            ((200, b'  [{"asset": "out"}, '), "it is not JSON: "),
            ((200, b'{"outputs": [{"asset": "out", "keys": ["\xff"]}]}'), "it is not JSON: 'utf-8' codec"),
            ((200, b"[" * 100_000), "it is nested too deeply"),
            ((200, b" " * (outbound.MOST_BYTES + 1)), "it is longer than 1048576 bytes"),
            ((200, {"outputs": [{"asset": "out", "keys": MANY}]}), "it is longer than 1048576 bytes"),
            (replies.broken_json, "it is not JSON: "),
            (replies.cut_off, "it was cut off"),
        ],
    )
    def test_that_cannot_be_read_is_a_failure(self, define, receiver, reply, sentence):
        define()
        receiver.replies = [reply]
        run = send(trigger())
        assert run.state == "queued"
        assert run.error.startswith(
            f"what {receiver.url.split('?')[0]} answered cannot be recorded: {sentence}"
        )
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

    def test_shows_what_is_no_answer_at_all(self, define, receiver):
        define()
        receiver.replies = [replies.garble]
        run = send(trigger())
        assert (run.state, run.failures) == ("queued", 1)
        assert run.error.endswith("cannot be reached: HTTP/1.1 2\ufffd0 OK")
        assert run.error in log(run)

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
