"""Dags are paused and unpaused by people."""

from core.models import JournalEntry
from scheduling import configuration
from tests.engine import world
from tests.sdk.writing import LATER, NOW, dag

CONSUMER = """
    with DAG("consumer", schedule=PartitionedAssetTimetable(assets=Asset("a") & Asset("b"))):
        pass
"""


class TestPausing:
    def test_is_written_down(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        assert configuration.set_paused(dag("d"), True, deed=world.ALICE, at=LATER)
        assert (dag("d").is_paused, dag("d").updated_at) == (True, LATER)
        entry = JournalEntry.objects.get(event="dag paused")
        assert (entry.dag_id, entry.by, entry.via, entry.at) == ("d", "alice", "web", LATER)

    def test_twice_is_once(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        assert not configuration.set_paused(dag("d"), False, deed=world.ALICE, at=LATER)
        assert not JournalEntry.objects.filter(event__startswith="dag unpaused").exists()

    def test_updates_the_row_that_was_given(self, directory):
        directory.write("a", """DAG("d")""")
        directory.sync()
        row = dag("d")
        configuration.set_paused(row, True, deed=world.ALICE, at=LATER)
        assert row.is_paused

    def test_holds_what_is_complete_until_it_ends(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        configuration.set_paused(dag("consumer"), True, deed=world.ALICE, at=NOW)
        world.emit("a", "k1", "k2", "k3")
        world.emit("b", "k1", "k2")
        world.turn()
        assert world.fired("consumer") == []
        configuration.set_paused(dag("consumer"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER)
        assert sorted(world.fired("consumer")) == ["k1", "k2"]
        assert world.held("consumer", "k3").verdict == "waiting"

    def test_is_not_made_up_for(self, directory):
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("*/10 * * * *"), catchup="all")""")
        directory.sync()
        configuration.set_paused(dag("c"), True, deed=world.ALICE, at=NOW)
        world.turn(LATER)
        configuration.set_paused(dag("c"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER.replace(minute=25))
        assert [key[11:] for key in world.fired("c")] == ["10:20:00"]

    def test_before_the_first_tick_leaves_the_start_date(self, directory):
        directory.write(
            "c",
            """
            from datetime import datetime
            DAG("c", schedule=CronPartitionTimetable("0 0 * * *"), start_date=datetime(2026, 3, 9),
                is_paused_upon_creation=True)
            """,
        )
        directory.sync()
        configuration.set_paused(dag("c"), False, deed=world.ALICE, at=LATER)
        world.turn(LATER)
        assert [key[:10] for key in world.fired("c")] == ["2026-03-09", "2026-03-10", "2026-03-11"]
