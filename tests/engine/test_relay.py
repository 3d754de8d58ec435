import threading

import pytest
from django.db import DatabaseError, connection, transaction

from core.models import Bell
from scheduling import doorbell, relay

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _embedded(settings):
    settings.EMBEDDED = True


class TestTakeBells:
    def test_takes_each_bell_once(self):
        doorbell.ring(doorbell.Bell.ROUTE)
        doorbell.ring(doorbell.Bell.START)
        assert sorted(relay.take_bells()) == ["route_events", "start_runs"]
        assert relay.take_bells() == []

    def test_a_bell_rung_many_times_is_taken_once(self):
        for _ in range(5):
            doorbell.ring(doorbell.Bell.ROUTE)
        assert relay.take_bells() == ["route_events"]

    def test_a_bell_rung_again_after_it_was_taken_rings_again(self):
        doorbell.ring(doorbell.Bell.ROUTE)
        relay.take_bells()
        doorbell.ring(doorbell.Bell.ROUTE)
        assert relay.take_bells() == ["route_events"]


def ring_and_fail() -> None:
    with transaction.atomic():
        doorbell.ring(doorbell.Bell.ROUTE)
        raise RuntimeError("the work that rang is undone")


class TestRingingMeanwhile:
    def test_a_ring_that_is_rolled_back_was_never_rung(self):
        with pytest.raises(RuntimeError):
            ring_and_fail()
        assert not Bell.objects.exists()

    def test_every_ring_is_heard_while_the_relay_looks_without_a_pause(self):
        heard, over, unheard = threading.Event(), threading.Event(), []

        def ring_and_listen() -> None:
            for number in range(100):
                heard.clear()
                doorbell.ring(doorbell.Bell.ROUTE)
                if not heard.wait(5):
                    unheard.append(number)
            connection.close()
            over.set()

        ringer = threading.Thread(target=ring_and_listen)
        ringer.start()
        while not over.is_set():
            if relay.take_bells():
                heard.set()
        ringer.join()
        assert unheard == []


class TestRingersThatMeet:
    def test_two_bells_rung_in_either_order_do_not_wait_for_each_other(self):
        """On PostgreSQL, rows written within the transactions would be a deadlock."""
        both = threading.Barrier(2, timeout=5)
        failed = []

        def ring(*bells) -> None:
            try:
                with transaction.atomic():
                    doorbell.ring(bells[0])
                    if (
                        connection.vendor != "sqlite"
                    ):  # where the second one is not let in before the first is done
                        both.wait()
                    doorbell.ring(bells[1])
            except DatabaseError as error:
                failed.append(error)
            finally:
                connection.close()

        pairs = [(doorbell.Bell.ROUTE, doorbell.Bell.START), (doorbell.Bell.START, doorbell.Bell.ROUTE)]
        ringers = [threading.Thread(target=ring, args=pair) for pair in pairs]
        for ringer in ringers:
            ringer.start()
        for ringer in ringers:
            ringer.join()
        assert failed == []
        assert sorted(relay.take_bells()) == ["route_events", "start_runs"]


class TestChangeDetector:
    def test_says_yes_first_and_after_another_connection_has_written(self):
        changed = relay.change_detector()
        assert changed()
        before = changed()
        ringer = threading.Thread(target=_ring_elsewhere)
        ringer.start()
        ringer.join()
        assert changed()
        assert before is (connection.vendor != "sqlite")

    def test_a_look_of_its_own_is_no_change(self):
        changed = relay.change_detector()
        changed()
        doorbell.ring(doorbell.Bell.ROUTE)
        relay.take_bells()
        assert changed() is (connection.vendor != "sqlite")


def _ring_elsewhere() -> None:
    doorbell.ring(doorbell.Bell.ROUTE)
    connection.close()
