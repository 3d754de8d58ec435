"""Who owes what is missing where sensors report it."""

import pytest

from core.models import AssetEvent
from scheduling import events, holds, overdue
from scheduling.events import EventReport
from scheduling.journal import Deed
from tests.engine import world
from tests.engine.world import NOW, asset, emit

pytestmark = pytest.mark.django_db


class TestSensors:
    """Where no Dag writes an asset, whoever has reported it last owes what is missing."""

    def report(self, sensor, name, *keys):
        by = Deed(by=f"sensor {sensor}", via="sensor")
        reports = [EventReport(asset(name), key) for key in keys]
        events.register_events(reports, source=AssetEvent.Source.SENSOR, deed=by, at=NOW)

    def owing(self, key="2026-03-10"):
        world.consumer("meet", {"a": world.IDENTITY, "b": world.IDENTITY})
        emit("b", key)
        world.turn()
        row = world.held("meet", key)
        [owed] = overdue.owed([row], holds.assess([row], now=NOW))[row.pk]
        return owed

    def test_that_reported_an_asset_owe_it(self, db):
        bell = world.sensor("bell")
        self.report("bell", "a", "2026-03-08", "2026-03-09")
        owed = self.owing()
        assert (owed.dags, owed.sensors, owed.by) == ((), (bell,), "sensor bell")

    def test_that_are_gone_owe_nothing(self, db):
        world.sensor("bell", is_active=False)
        self.report("bell", "a", "2026-03-09")
        assert self.owing().sensors == ()

    def test_do_not_owe_what_others_report_by_now(self, db):
        world.sensor("bell")
        self.report("bell", "a", "2026-03-01")
        emit("a", *(f"2026-03-0{day}" for day in range(2, 9)))
        assert self.owing().sensors == ()

    def test_do_not_owe_what_a_dag_writes(self, db):
        world.sensor("bell")
        made = world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["a"])
        self.report("bell", "a", "2026-03-09")
        owed = self.owing()
        assert (owed.dags, owed.sensors) == ((made,), ())
