"""The tasks that messages name: each looks until there is nothing left, and the sweep looks at everything."""

import pytest
from celery import current_app
from django.db import connection

from core.models import Bell, DagRun
from scheduling import backfills, tasks, turns
from scheduling.doorbell import Bell as Name
from tests.backfills.play import begin, counts, daily, execute, listener, producer
from tests.engine.world import ALICE

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def embedded(settings):
    settings.EMBEDDED = True


@pytest.fixture
def sent(monkeypatch):
    """The primary keys of runs that a message was sent for."""
    found = []
    monkeypatch.setattr(current_app, "send_task", lambda name, args, **_: found.extend(args))
    return found


def rung():
    """On PostgreSQL bells become rows after the commit, which is now as far as they can tell."""
    waiting = [ring for _, ring, _ in connection.run_on_commit]
    connection.run_on_commit.clear()
    for ring in waiting:
        ring()
    names = set(Bell.objects.values_list("name", flat=True))
    Bell.objects.all().delete()
    return names


class TestBells:
    def test_name_tasks_that_there_are(self):
        assert {f"scheduling.{bell}" for bell in Name} <= set(current_app.tasks)

    def test_a_backfill_that_starts_rings(self):
        begin(producer())
        assert Name.ADVANCE_BACKFILLS in rung()

    def test_a_run_of_it_that_ends_rings(self):
        begin(producer(), keys=("2026-03-01",))
        tasks.advance_backfills()
        rung()
        execute(DagRun.objects.get().run_after)
        assert {Name.ADVANCE_BACKFILLS, Name.START} <= rung()

    def test_a_run_of_nobodys_does_not(self):
        execute()
        assert Name.ADVANCE_BACKFILLS not in rung()

    def test_one_that_goes_on_rings_for_both(self):
        backfill = begin(producer())
        backfills.pause(backfill, deed=ALICE, at=backfill.created_at)
        rung()
        backfills.resume(backfill, deed=ALICE, at=backfill.created_at)
        assert {Name.ADVANCE_BACKFILLS, Name.START} <= rung()


class TestTasks:
    def test_advance_queues_all_there_is_room_for(self, monkeypatch):
        monkeypatch.setattr("scheduling.backfills.ahead.MOST_RUNS", 2)
        begin(producer())
        tasks.advance_backfills()
        assert DagRun.objects.count() == 10

    def test_start_sends_a_message_for_every_run_that_may_start(self, sent, monkeypatch):
        dispatch = turns.dispatch
        monkeypatch.setattr(turns, "dispatch", lambda **asked: dispatch(**asked | {"limit": 3}))
        begin(producer())
        tasks.advance_backfills()
        tasks.start_runs()
        assert sorted(sent) == list(DagRun.objects.order_by("pk").values_list("pk", flat=True))

    def test_the_sweep_advances_though_every_bell_was_lost(self, sent):
        backfill = begin(producer(), keys=("2026-03-01",))
        rung()
        tasks.sweep()
        assert len(sent) == 1
        execute_all(sent)
        rung()
        tasks.sweep()
        assert counts(backfill) == {"planned": 1, "done": 1}

    def test_mapping_events_wakes_what_waited_for_them(self, sent):
        daily("as"), daily("bs")
        first = producer("first", "as")
        listener("second", "as", "bs")
        begin(first, keys=("2026-03-01",), with_downstream=True)
        tasks.sweep()
        execute_all(sent)
        tasks.advance_backfills()
        rung()
        tasks.route_events()
        assert Name.ADVANCE_BACKFILLS in rung()


def execute_all(sent):
    from datetime import UTC, datetime

    from scheduling import claims
    from tests.backfills.play import finish

    for pk in list(sent):
        now = datetime.now(UTC)
        run = claims.claim(pk, worker="w", now=now)
        if run:
            finish(run, now)
