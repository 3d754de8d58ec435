"""Old records go in portions, by the settings, once a day."""

import pytest
from django.core.management import call_command

from core.models import AssetEvent, ConsumedEvent
from scheduling import journal, retention, tasks
from scheduling.retention import Ages
from tests.engine.pruning import DAY, LATER, YEAR, prune
from tests.engine.world import IDENTITY, MINUTE, NOW, consumer, emit, held, turn

pytestmark = pytest.mark.django_db


class TestPortions:
    def test_are_many_for_many_and_skip_none(self, monkeypatch):
        monkeypatch.setattr(retention, "PORTION", 7)
        for minute in range(4):
            emit("a", *(f"k{number}" for number in range(10)), at=NOW + minute * MINUTE)
        turn()
        assert prune()["events"] == 30
        assert AssetEvent.objects.count() == 10

    def test_end_where_nothing_is_old(self, monkeypatch, django_assert_max_num_queries):
        monkeypatch.setattr(retention, "PORTION", 10)
        emit("a", *(f"k{number}" for number in range(200)), at=LATER)
        turn(LATER)
        with django_assert_max_num_queries(3):
            prune(ages=Ages(events=DAY))

    def test_may_be_stopped_and_gone_on_with(self, monkeypatch):
        monkeypatch.setattr(retention, "PORTION", 5)
        emit("a", *["k"] * 21)
        turn()
        answers = iter([True, True, False])
        assert retention.prune(YEAR, now=LATER, go_on=lambda: next(answers)) is None
        assert AssetEvent.objects.count() == 11
        assert retention.is_due(now=LATER), "it is not done"
        prune()
        assert AssetEvent.objects.count() == 1

    def test_leave_alone_what_was_needed_this_moment(self, monkeypatch):
        """As if a consumer had counted it between the look and the deletion."""
        emit("a", "k")
        emit("a", "k")
        turn()
        consumer("c", {"b": IDENTITY, "d": IDENTITY})
        emit("b", "k")
        turn()
        event = AssetEvent.objects.earliest("pk")
        ConsumedEvent.objects.create(held_run=held("c", "k"), event=event)
        monkeypatch.setattr(retention, "_old_events", lambda before: AssetEvent.objects.filter(pk=event.pk))
        assert prune()["events"] == 0
        assert AssetEvent.objects.filter(pk=event.pk).exists()


class TestCommand:
    def test_prunes_by_the_settings(self, settings, capsys):
        settings.KEEP_EVENT_DAYS, settings.KEEP_JOURNAL_DAYS, settings.KEEP_RUN_DAYS = 1, 0, 0
        emit("a", "k")
        emit("a", "k")
        turn()
        call_command("prune", "--dry-run")
        call_command("prune")
        assert capsys.readouterr().out.splitlines() == ["0 log lines", "0 looks", "1 events"] * 2
        assert AssetEvent.objects.count() == 1


class TestTask:
    def test_does_it_once_a_day_however_often_it_is_sent(self, settings):
        settings.KEEP_EVENT_DAYS = 1
        for _ in range(2):
            emit("a", "k")
            emit("a", "k")
            turn()
            tasks.prune()
        assert AssetEvent.objects.count() == 3, "what came after the first time waits for a day"

    def test_is_due_again_the_next_day(self):
        assert retention.is_due(now=NOW)
        journal.note(retention.DONE, at=NOW)
        assert not retention.is_due(now=NOW + 22 * 60 * MINUTE)
        assert retention.is_due(now=NOW + DAY)
