import pytest

from core.models import Dag
from scheduling import listening
from scheduling.listening import BrokenDefinition, DagListening
from tests.engine.world import IDENTITY, consumer, dag

pytestmark = pytest.mark.django_db


class TestOfDags:
    def test_a_broken_one_is_an_answer_beside_the_others(self):
        consumer("good", {"a": IDENTITY})
        consumer("bad", {"a": {"type": "NoMapper"}})
        rows = {row.dag_id: row for row in Dag.objects.all()}
        heard = listening.of_dags(rows.values())
        assert isinstance(heard[rows["good"].pk], DagListening)
        assert isinstance(heard[rows["bad"].pk], BrokenDefinition)

    def test_it_is_read_once_in_one_query(self, django_assert_num_queries):
        for number in range(3):
            consumer(f"c{number}", {"a": IDENTITY})
        rows = list(Dag.objects.all())
        with django_assert_num_queries(1):
            first = listening.of_dags(rows)
        with django_assert_num_queries(0):
            assert listening.of_dags(rows) == first

    def test_all_are_answered_where_fewer_can_be_kept(self, monkeypatch):
        monkeypatch.setattr(listening, "KEPT", 2)
        monkeypatch.setattr(listening, "_listenings", {})
        for number in range(5):
            consumer(f"c{number}", {"a": IDENTITY})
        rows = list(Dag.objects.all())
        listening.of_dags(rows[:2])
        assert listening.of_dags(rows).keys() == {row.pk for row in rows}


def test_another_edition_is_another_timetable():
    made = dag("d", {"type": "CronPartitionTimetable", "cron": "0 0 * * *"})
    before = listening.timetable_of(made)
    assert listening.timetable_of(made) is before
    made.schedule, made.revision = {"type": "CronPartitionTimetable", "cron": "0 1 * * *"}, 2
    assert listening.timetable_of(made) != before
