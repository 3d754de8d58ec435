"""A sensor looks once at a time, whatever becomes of messages, workers and the engine."""

from datetime import timedelta

import pytest

from scheduling import definitions, restart, sensors
from tests.sdk.watching import INBOX, keys, one, sync, turn
from tests.sdk.writing import LATER, NOW

pytestmark = pytest.mark.django_db


class TestOneAtATime:
    def test_is_not_sent_while_it_is_sent(self, directory):
        sync(directory, INBOX)
        assert len(sensors.dispatch(now=NOW)) == 1
        assert sensors.dispatch(now=NOW + timedelta(seconds=60)) == []

    def test_is_sent_again_when_its_message_was_lost(self, directory):
        sync(directory, INBOX)
        [first] = sensors.dispatch(now=NOW)
        assert sensors.dispatch(now=NOW + timedelta(minutes=2)) == [first]
        sensors.look(*first, clock=lambda: LATER)
        assert keys() == ["a", "b"]

    def test_whose_message_waits_for_very_long_still_happens_once(self, directory):
        sync(directory, INBOX.replace(", idempotency_key=name", "").replace("look.cursor = name", "pass"))
        sent = {sensors.dispatch(now=NOW + number * timedelta(minutes=2))[0] for number in range(5)}
        for each in [*sent, *sent]:
            sensors.look(*each, clock=lambda: LATER)
        assert keys() == ["a", "b"]

    def test_does_not_begin_while_another_goes_on_after_its_time(self, directory):
        text = """
            log = Asset("log")

            @sensor
            def s(look):
                look.report(log, "k")
                during(look)
        """
        sync(directory, text)
        second = []

        def during(look):
            second.extend(sensors.dispatch(now=LATER))
            sensors.look(*second[0], clock=lambda: LATER)

        definitions.authored_sensor(one("s")).function.__globals__["during"] = during
        [first] = sensors.dispatch(now=NOW)
        sensors.look(*first, clock=lambda: NOW)
        assert second[0] != first
        assert keys("log") == []

    def test_of_one_number_happens_once(self, directory):
        sync(directory, INBOX.replace(", idempotency_key=name", "").replace("look.cursor = name", "pass"))
        [(pk, number)] = sensors.dispatch(now=NOW)
        sensors.look(pk, number, clock=lambda: NOW)
        sensors.look(pk, number, clock=lambda: NOW)
        assert keys() == ["a", "b"]

    def test_that_was_overtaken_records_nothing(self, directory):
        sync(directory, INBOX)
        [(pk, number)] = sensors.dispatch(now=NOW)
        times = iter([NOW, LATER])

        def clock():
            at = next(times)
            if at == LATER:  # its lease ran out while it looked, and another took over
                sensors.dispatch(now=LATER)
            return at

        sensors.look(pk, number, clock=clock)
        assert (keys(), one().cursor) == ([], "")

    def test_that_could_not_be_sent_is_due_still(self, directory):
        sync(directory, INBOX)
        sensors.take_back(sensors.dispatch(now=NOW))
        assert len(turn()) == 1

    def test_that_was_under_way_when_the_engine_died_is_due_at_once(self, directory):
        sync(directory, INBOX)
        sensors.dispatch(now=NOW)
        restart.take_back(now=NOW)
        assert len(turn()) == 1
