"""What the file of a Dag says, while something else counts."""

import pytest

from core.models import Dag, JournalEntry, ScheduleOverride
from scheduling import configuration, listening
from scheduling.algebra.mappers import IdentityMapper
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.sdk.writing import LATER, listens, sentences

pytestmark = pytest.mark.django_db


class TestCode:
    def test_is_kept_beside_what_counts(self, listen):
        row = listen()
        said = row.schedule
        change(row, late="hold")
        assert row.override.code == said
        assert (row.override.by, row.override.reason) == ("bob", BOB.reason)

    def test_that_is_read_again_changes_nothing(self, listen):
        row = listen()
        change(row, late="hold")
        seen = row.revision
        row = listen()
        assert (row.schedule["late"], row.revision) == ("hold", seen)

    def test_that_changes_leaves_the_override_and_is_noted(self, listen):
        row = listen()
        change(row, default_mapper={"type": "StartOfHourMapper"})
        seen = row.revision
        row = listen("StartOfDayMapper()")
        assert listens("c") == [("a", "StartOfHourMapper")]
        assert row.override.code["default_mapper"]["type"] == "StartOfDayMapper"
        assert row.revision == seen + 1
        entry = JournalEntry.objects.get(event="code schedule changed")
        assert (entry.by, entry.extra["now"]) == ("definitions", row.override.code)

    def test_may_change_all_else_of_an_overridden_dag(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.write(
            "c", 'DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a")), max_active_runs=3)'
        )
        directory.sync(LATER)
        row.refresh_from_db()
        assert (row.max_active_runs, row.schedule["late"]) == (3, "hold")

    def test_that_ticks_now_leaves_the_override(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.write("c", 'DAG("c", schedule=CronPartitionTimetable("0 0 * * *"))')
        directory.sync(LATER)
        row.refresh_from_db()
        assert (row.is_periodic, row.schedule["late"]) == (False, "hold")
        configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert row.is_periodic
        assert listens("c") == []
        world.turn(LATER)
        assert world.fired("c") == []

    def test_comes_back(self, listen):
        row = listen()
        said = row.schedule
        change(row, late="hold")
        assert configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert (row.schedule, ScheduleOverride.objects.count()) == (said, 0)
        assert JournalEntry.objects.get(event="schedule back to code").extra["now"] == said

    def test_comes_back_only_from_an_override(self, listen):
        row = listen()
        assert not configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)

    def test_said_by_hand_is_no_override(self, listen):
        row = listen()
        change(row, late="hold")
        change(row, late=None)
        assert ScheduleOverride.objects.count() == 0
        assert listening.timetable_of(row).default_partition_mapper == IdentityMapper()

    def test_of_a_dag_that_comes_back_finds_its_override(self, listen, directory):
        row = listen()
        change(row, late="hold")
        directory.remove("c")
        directory.sync(LATER)
        assert listen().schedule["late"] == "hold"

    def test_is_the_way_out_of_an_override_that_cannot_be_read(self, listen):
        """The package of a plug-in went: the Dag says so, keeps what it held, and can go back."""
        row = listen()
        change(row, late="hold")
        broken = row.schedule | {"default_mapper": {"type": "GoneMapper"}}
        Dag.objects.filter(pk=row.pk).update(schedule=broken)
        row = listen(fits=False)
        assert row.schedule == broken
        assert any("GoneMapper" in each for each in sentences("c"))
        configuration.back_to_code(row, deed=BOB, at=LATER, revision=row.revision)
        assert sentences("c") == []
