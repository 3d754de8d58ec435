"""Sensors as definition files define them, looked with and recorded."""

from datetime import timedelta

import pytest

from core.models import AssetEvent, DagRun, JournalEntry, Sensor, SensorLook
from core.models.sensors import Outcome
from scheduling import dynamic, health
from scheduling.board import attention
from tests.engine.world import fired
from tests.engine.world import turn as engine_turn
from tests.sdk.watching import INBOX, keys, one, sync, turn
from tests.sdk.writing import LATER, NOW, source

pytestmark = pytest.mark.django_db


class TestDefinition:
    def test_makes_a_row(self, directory):
        assert sync(directory, INBOX).ok
        sensor = one()
        assert (sensor.every, sensor.timeout) == (timedelta(seconds=30), timedelta(minutes=1))
        assert (sensor.description, sensor.next_look_at) == ("Reports what has landed.", NOW)
        assert sensor.source == source(directory.write("watch", INBOX))

    def test_takes_a_function_as_it_is(self, directory):
        sync(directory, "@sensor\ndef plain(look): pass")
        assert one("plain").every == timedelta(seconds=30)

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ('every="often"', "every: 'often' is not a span of time; write it like 10m, 6h or 1d12h"),
            ("every=0.2", "every: a sensor looks at most once a second, not every 0:00:00.200000"),
            (
                'timeout="1h"',
                "timeout: a look takes 3 minutes at most, not 1 hour; let it trigger a Dag for longer work",
            ),
        ],
    )
    def test_that_cannot_be_is_shown_and_stops_no_other(self, directory, arguments, sentence):
        sync(directory, f"@sensor({arguments})\ndef bad(look): pass\n@sensor\ndef good(look): pass")
        assert one("bad").problem == sentence
        assert [pk for pk, _ in turn()] == [one("good").pk]

    def test_of_a_name_that_is_taken_is_refused(self, directory):
        report = sync(directory, "@sensor\ndef a(look): pass\n@sensor(name='a')\ndef b(look): pass")
        assert "sensor a is defined in" in report.troubles[0]
        assert Sensor.objects.count() == 1

    def test_that_changes_keeps_its_cursor(self, directory):
        sync(directory, INBOX)
        turn()
        sync(directory, INBOX.replace("30s", "5m"), LATER)
        assert (one().cursor, one().every) == ("b", timedelta(minutes=5))

    def test_that_is_gone_looks_no_more_and_may_come_back(self, directory):
        sync(directory, INBOX)
        sync(directory, "")
        assert not one().is_active
        assert turn(LATER) == []
        sync(directory, INBOX)
        assert len(turn(LATER)) == 1

    def test_stays_while_its_file_cannot_be_loaded(self, directory):
        sync(directory, INBOX)
        sync(directory, "1 / 0")
        assert one().is_active
        turn()
        assert one().outcome == Outcome.FAILED
        assert "cannot be loaded: ZeroDivisionError" in one().sentence

    def test_may_begin_paused(self, directory):
        sync(directory, "@sensor(is_paused_upon_creation=True)\ndef s(look): pass")
        assert turn() == []


class TestLook:
    def test_records_what_it_saw_with_its_cursor(self, directory):
        sync(directory, INBOX)
        turn()
        event = AssetEvent.objects.first()
        assert keys() == ["a", "b"]
        assert (event.source, event.created_by, event.extra) == ("sensor", "sensor new_files", {"seen": True})
        assert (one().cursor, one().outcome, one().sentence) == ("b", "found", "2 events")
        assert (one().looked_at, one().next_look_at) == (NOW, NOW + timedelta(seconds=30))

    def test_is_due_again_after_its_cadence(self, directory):
        sync(directory, INBOX)
        turn()
        assert turn(NOW + timedelta(seconds=29)) == []
        assert len(turn(NOW + timedelta(seconds=30))) == 1
        assert keys() == ["a", "b"]

    def test_that_finds_nothing_leaves_no_row(self, directory):
        sync(directory, "@sensor\ndef s(look): look.say('the shop is closed')")
        turn()
        assert (one("s").outcome, one("s").sentence) == ("nothing", "the shop is closed")
        assert not SensorLook.objects.exists()

    def test_triggers_runs_once_per_id(self, directory):
        text = """
            with DAG("load", schedule=PartitionedAtRuntime()):
                @task
                def work(): pass

            @sensor
            def orders(look):
                look.trigger("load", "2026-03-10", conf={"size": 3}, run_id="order-7")
        """
        sync(directory, text)
        turn()
        turn(LATER)
        run = DagRun.objects.get()
        assert (run.partition_key, run.conf, run.run_id) == ("2026-03-10", {"size": 3}, "order-7")
        assert (run.run_type, run.triggered_by, run.created_by) == ("sensor", "sensor", "sensor orders")
        assert one("orders").outcome == Outcome.NOTHING

    def test_adds_and_removes_keys(self, directory):
        text = """
            stores = Asset("stores", partitions=DynamicPartitions("store"))

            @sensor
            def openings(look):
                look.add_keys(stores, ["north", "south"])
                look.remove_keys("store", "south")
        """
        sync(directory, text)
        turn()
        assert dynamic.keys_of("store") == ("north",)
        assert one("openings").sentence == "2 keys added, 1 key removed"

    @pytest.mark.parametrize(
        ("body", "sentence"),
        [
            ("1 / 0", "ZeroDivisionError: division by zero"),
            (
                "look.report('nowhere', 'k')",
                "there is no asset 'nowhere': name one that a definition file has",
            ),
            ("look.trigger('none')", "there is no Dag 'none'"),
            (
                "look.report(inbox, 'k', extra=nest(700))",
                "event 1: the extra of inbox is nested more than 10",
            ),
            (
                "look.report(inbox, extra={'a': 'x' * 70_000})",
                "the extra of inbox has 70009 bytes as JSON: at",
            ),
            ("look.trigger('d', conf=nest(700))", "the conf for Dag d is nested more than 10 levels deep"),
            ("look.cursor = 7", "look.cursor is text without NUL, not 7: json.dumps makes text of it"),
            ("look.cursor = 'x' * 100_001", "look.cursor has 100001 characters: at most 100000 are kept"),
            ("look.report('inbox', '')", "event 1: a partition key cannot be empty"),
            ("raise SystemExit(3)", "SystemExit: 3"),
            ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
        ],
    )
    def test_that_fails_records_nothing_else(self, directory, body, sentence):
        text = f"""
            inbox, d = Asset("inbox"), DAG("d")

            def nest(levels): return {{"a": nest(levels - 1)}} if levels else 1

            @sensor
            def s(look):
                look.report(inbox, "fine")
                look.cursor = "far"
                {body}
        """
        sync(directory, text)
        turn()
        assert (keys(), one("s").cursor) == ([], "")
        assert (one("s").outcome, one("s").failures) == (Outcome.FAILED, 1)
        assert sentence in one("s").sentence
        assert SensorLook.objects.get().sentence == one("s").sentence

    def test_that_fails_again_waits_longer_within_an_hour(self, directory):
        sync(directory, "@sensor(every='10m')\ndef s(look): 1 / 0")
        pauses = []
        for _ in range(5):
            at = one("s").next_look_at
            turn(at)
            pauses.append((one("s").next_look_at - at) / timedelta(minutes=1))
        assert pauses == [10, 20, 40, 60, 60]
        assert JournalEntry.objects.filter(event="sensor failed").count() == 1

    def test_that_fails_needs_a_person_until_it_succeeds(self, directory):
        sync(directory, "@sensor\ndef s(look): 1 / 0")
        turn()
        [need] = [each for each in attention.needs(health.report(NOW), now=NOW) if each.kind == "sensor"]
        assert (need.subject, need.sentence) == ("s", "ZeroDivisionError: division by zero")
        sync(directory, "@sensor\ndef s(look): pass", NOW)
        turn(LATER)
        assert not [each for each in attention.needs(health.report(NOW), now=NOW) if each.kind == "sensor"]

    def test_shows_the_authors_own_frames(self, directory):
        sync(directory, "@sensor\ndef s(look): 1 / 0")
        turn()
        trace = SensorLook.objects.get().error
        assert "watch.py" in trace
        assert "scheduling/sensors.py" not in trace

    def test_that_takes_too_long_is_interrupted(self, directory):
        sync(directory, "import time\n@sensor(timeout=0.1)\ndef s(look): time.sleep(20)")
        turn()
        assert one("s").outcome == Outcome.FAILED
        assert one("s").sentence.startswith("took longer than")


def test_a_look_feeds_those_that_listen(directory):
    text = (
        INBOX
        + """
    with DAG("sort", schedule=PartitionedAssetTimetable(assets=inbox)):
        @task
        def work(): pass
"""
    )
    sync(directory, text)
    turn()
    engine_turn()
    assert fired("sort") == ["a", "b"]
