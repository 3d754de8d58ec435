"""Messages to workers, through a broker in memory and through one that is away."""

from datetime import timedelta

import pytest
from celery import Celery, current_app
from django.conf import settings
from django.utils import timezone

from core.models import DagRun
from partitions_site.celery import app
from scheduling import messages, runs, tasks, turns
from scheduling.runs import Ask
from tests.engine.world import ALICE, dag

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def broker():
    """One in memory, without messages, whichever the environment names; our own app afterwards."""
    here = Celery("here", broker="memory://", set_as_current=True)
    here.conf.task_routes = settings.CELERY_TASK_ROUTES
    _purge()
    yield here
    _purge()
    app.set_current()


@pytest.fixture
def away(broker):
    """An app whose broker is away, in the place of that."""
    gone = Celery("away", broker="redis://127.0.0.1:1/0", set_as_current=True)
    gone.conf.broker_transport_options = {"max_retries": 1, "interval_start": 0}
    yield
    broker.set_current()


def _purge():
    with current_app.connection_for_write() as connection:
        connection.default_channel.queue_declare("work")
        connection.default_channel.queue_purge("work")


def queued(*keys, **options):
    made = dag("ingest", {"type": "PartitionedAtRuntime"}, **options)
    return [runs.trigger(made, Ask(key), deed=ALICE, at=timezone.now()) for key in keys]


def taken():
    """The runs named by the messages that wait."""
    return [arguments[0] for arguments, _ in taken_with_limits()]


def taken_with_limits():
    """The same, all that the task is called with, and when its process is ended, and interrupted."""
    found = []
    with current_app.connection_for_write() as connection:
        while message := connection.default_channel.basic_get("work"):
            read = connection.default_channel.message_to_python(message)
            found.append((read.payload[0], read.headers["timelimit"]))
    return found


class TestSend:
    def test_each_run_has_its_message(self):
        assert messages.none_waits()
        assert messages.send([7, 8]) == ()
        assert not messages.none_waits()
        assert taken() == [7, 8]
        assert messages.none_waits()

    def test_one_that_may_take_so_long_only_brings_the_end_of_its_process(self):
        messages.send([7, 8], {8: 21.0})
        assert taken_with_limits() == [([7], [None, None]), ([8, 21.0], [21.0, 20.0])]

    def test_with_the_broker_away_it_says_for_whom_there_is_none(self, away):
        assert messages.send([7, 8]) == [7, 8]

    def test_a_broker_that_does_not_answer_does_not_say_that_none_waits(self, away):
        assert not messages.none_waits()


class TestStartRuns:
    def test_a_message_is_sent_once_while_it_waits(self):
        [run] = queued("k")
        tasks.start_runs()
        tasks.start_runs()
        tasks.repair()
        assert taken() == [run.pk]

    def test_the_message_of_a_run_with_a_time_limit_brings_it(self):
        [run] = queued("k", run_timeout=timedelta(seconds=1))
        tasks.start_runs()
        assert taken_with_limits() == [([run.pk, 21.0], [21.0, 20.0])]

    def test_what_could_not_be_sent_is_sent_by_the_next_sweep(self, broker, away):
        [run] = queued("k")
        tasks.start_runs()
        assert DagRun.objects.get().dispatched_at is None
        broker.set_current()
        tasks.repair()
        assert taken() == [run.pk]

    def test_a_message_that_was_lost_is_sent_again_after_an_interval(self):
        [run] = queued("k")
        tasks.start_runs()
        _purge()
        tasks.repair()
        assert taken() == []
        sent = timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1)
        DagRun.objects.update(dispatched_at=sent)
        tasks.repair()
        assert taken() == [run.pk]

    def test_not_while_others_wait_for_a_worker(self):
        """Then it may be one of them: busy workers are no reason to send everything twice."""
        first, second = queued("k", "l")
        tasks.start_runs()
        sent = timezone.now() - timedelta(seconds=settings.SWEEP_SECONDS + 1)
        DagRun.objects.update(dispatched_at=sent)
        tasks.repair()
        assert taken() == [first.pk, second.pk]
        DagRun.objects.update(dispatched_at=timezone.now() - turns.DISPATCH_AGAIN)
        messages.send([0])
        tasks.repair()
        assert taken() == [0, first.pk, second.pk]
