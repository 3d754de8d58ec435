"""Runs that are sent to an HTTP address which answers later, by a callback."""

from datetime import timedelta

import pytest
from django.db import connection

from core.models import DagRun
from scheduling import claims, corrections, elsewhere, runs, webhooks
from scheduling.elsewhere import NotWithYou
from scheduling.reports import Report
from tests.engine.world import ALICE, NOW, part
from tests.executors.sending import again, emitted, log, send, trigger

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


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
        elsewhere.finish(waiting, None, Report(), at=NOW)
        corrections.retry(again(waiting), deed=ALICE, at=NOW + SECOND)
        second = send(waiting, at=NOW + SECOND)
        first = receiver.requests[0].json["callback"]["token"]
        assert (second.attempt, webhooks.is_token_of(second, first)) == (2, False)


def promise(handler):
    """Answer that a callback will say how it went."""
    handler.send_response(202)
    handler.send_header("Content-Length", "0")
    handler.end_headers()


@pytest.mark.django_db(transaction=True)
class TestOrder:
    def test_a_callback_may_come_before_the_answer_that_promises_it(self, define, receiver):
        def call_back_at_once(handler, request):
            try:
                run = again(DagRun.objects.get())
                elsewhere.finish(run, None, Report(), at=NOW)
            finally:
                connection.close()
            promise(handler)

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
            promise(handler)

        define()
        receiver.replies = [cancelled]
        assert send(trigger()).state == "cancelled"
