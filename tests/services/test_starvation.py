"""What can never fire, what is broken and what there is too much of keep nobody waiting."""

import pytest

from tests.services.parts import ENGINE, WORK, Parts

pytestmark = [pytest.mark.services, pytest.mark.slow, pytest.mark.timeout(300)]

POISON = """
import django; django.setup()
import json
from core.models import DagRun, HeldRun, JournalEntry, MappingProblem
from scheduling import tasks
from tests.engine.world import IDENTITY, consumer, emit

def told():
    return [
        sorted(DagRun.objects.values_list("dag__dag_id", "partition_key")),
        HeldRun.objects.held().count(),
        list(MappingProblem.objects.values_list("dag__dag_id", "sentence")),
        JournalEntry.objects.filter(dag_id="broken").count(),
    ]

consumer("joined", {"a": IDENTITY, "b": IDENTITY})
consumer("broken", {"poison": {"type": "NoSuchMapper"}})
emit("a", *[f"k{number}" for number in range(500)])
emit("poison", "k")
tasks.repair()
before = told()
emit("b", "k499")
tasks.repair()
after = told()
for _ in range(3):
    tasks.repair()
print(json.dumps([before, after, told()]))
"""
CLOCKWORK = """
from datetime import UTC, datetime
from scheduling.sdk import DAG, CronPartitionTimetable, task

begin, end = datetime(2026, 3, 10, tzinfo=UTC), datetime(2026, 3, 10, 3, 19, tzinfo=UTC)
with DAG("minutely", schedule=CronPartitionTimetable("* * * * *"), start_date=begin, end_date=end,
         max_active_runs=2):

    @task
    def look(partition_key):
        return partition_key

    look()
"""
BACKFILLED = [f"2026-03-09T00:{minute:02}:00" for minute in range(20)]
COUNTED = """
select run_type, state, count(*) from core_dagrun group by 1, 2 order by 1, 2
"""
BEFORE_THE_END_OF_THE_BACKFILL = """
select count(*) from core_dagrun
where run_type = 'scheduled'
    and started_at < (select max(ended_at) from core_dagrun where run_type = 'backfill')
"""


def test_a_complete_held_run_fires_in_the_next_sweep_beside_hopeless_and_broken_ones(crowd):
    before, after, later = crowd.ask(POISON)
    runs, held, problems, entries = before
    assert (runs, held, entries) == ([], 500, 1)
    [(dag_id, sentence)] = problems
    assert dag_id == "broken"
    assert "NoSuchMapper" in sentence
    assert after == [[["joined", "k499"]], 499, problems, 1]
    assert later == after, "the broken one says once what is wrong"


def test_ten_times_as_many_scheduled_runs_do_not_stop_a_backfill(tmp_path, postgres_url, redis_url):
    """200 wait for the two slots of their Dag when a backfill of 20 comes: they take turns."""
    definitions = tmp_path / "clockwork.py"
    definitions.write_text(CLOCKWORK)
    with Parts(tmp_path / "var", postgres_url, redis_url, definitions) as parts:
        parts.prepare()
        parts.begin("beat", ["beat"])
        parts.begin("engine", ENGINE)
        parts.wait_for(lambda: parts.rows(COUNTED) == [("scheduled", "queued", 200)], seconds=120)
        keys = [word for key in BACKFILLED for word in ("--key", key)]
        assert parts.popen("backfill", "start", "minutely", *keys).wait(120) == 0
        parts.wait_for(lambda: parts.rows(COUNTED)[0][0] == "backfill", seconds=60)
        parts.begin("work", WORK)
        parts.wait_for(lambda: ("backfill", "success", 20) in parts.rows(COUNTED), seconds=120)
        [(scheduled,)] = parts.rows(BEFORE_THE_END_OF_THE_BACKFILL)
        assert 10 <= scheduled <= 40
