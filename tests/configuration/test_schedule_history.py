"""Who changed how a Dag listens, when and why; who comes second is told so."""

from dataclasses import replace

import pytest

from core.models import Dag
from scheduling import configuration
from scheduling.configuration import history
from tests.configuration.changing import BOB, change
from tests.engine import world
from tests.sdk.writing import LATER, dag

pytestmark = pytest.mark.django_db


class TestTwoAtOnce:
    def test_the_second_is_refused_with_what_the_first_changed(self, listen):
        row = listen()
        seen = Dag.objects.get(pk=row.pk)
        change(row, late="hold")
        with pytest.raises(configuration.StaleSchedule) as refused:
            change(seen, deed=replace(BOB, by="eve"), late="restart")
        assert 'bob changed late: not set → "hold"' in str(refused.value)
        row.refresh_from_db()
        assert row.schedule["late"] == "hold"

    def test_it_is_told_all_that_has_changed_since(self, listen):
        row = listen()
        seen = Dag.objects.get(pk=row.pk)
        change(row, late="hold")
        change(row, deed=replace(BOB, by="amy"), settle=30)
        with pytest.raises(configuration.StaleSchedule) as refused:
            change(seen, late="restart")
        assert "amy, bob changed" in str(refused.value)
        assert "settle" in str(refused.value)

    def test_a_file_that_was_read_in_between_counts_as_one(self, listen):
        row = listen()
        listen("StartOfDayMapper()")
        with pytest.raises(configuration.StaleSchedule, match="definitions changed default_mapper"):
            change(row, late="hold")


class TestHistory:
    def test_tells_who_when_why_and_what(self, listen):
        row = listen()
        change(row, late="hold")
        change(row, deed=replace(BOB, by="amy", reason="no"), at=LATER + world.MINUTE, late="restart")
        last, first = history.versions(row)
        assert (last.by, last.reason, last.at) == ("amy", "no", LATER + world.MINUTE)
        assert [each.sentence() for each in last.differences()] == ['late: "hold" → "restart"']
        assert [each.sentence() for each in first.differences()] == ['late: not set → "hold"']
        assert (first.revision, last.revision) == (2, 3)

    def test_lets_a_change_be_taken_back(self, listen):
        row = listen()
        was = row.schedule
        change(row, late="hold")
        [version] = history.versions(row)
        again = history.version(row, version.pk)
        configuration.change_schedule(row, again.was, deed=BOB, at=LATER, revision=row.revision)
        assert row.schedule == was

    def test_has_what_the_file_said_beside_it(self, listen):
        row = listen()
        change(row, late="hold")
        listen("StartOfDayMapper()")
        aside, changed = history.versions(row)
        assert (aside.is_aside, changed.is_aside) == (True, False)

    def test_of_another_dag_is_not_found(self, listen, directory):
        row = listen()
        change(row, late="hold")
        [version] = history.versions(row)
        directory.write("d", 'DAG("d", schedule=None)')
        directory.sync(LATER)
        assert history.version(dag("d"), version.pk) is None
