"""Changes of how Dags listen and others who lock Dags at the same time, which only PostgreSQL lets happen."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import transaction

from core import locks
from core.models import Dag, Pool
from scheduling.configuration import pools
from tests.configuration.changing import BOB, change
from tests.engine.meeting import apart, until_waiting
from tests.sdk.writing import LATER, Directory, dag, sentences

pytestmark = [pytest.mark.pg, pytest.mark.django_db(transaction=True)]

FED = """
    days = PartitionedAssetTimetable(assets=Asset("out"), partition_mapper=StartOfDayMapper())
    DAG("{0}", schedule=days, pool="shared")
    """
FEEDS = """
    hours = StartOfHourMapper(output_format="%Y-%m-%dT%H:%M:%S")
    schedule = PartitionedAssetTimetable(assets=Asset("a"), partition_mapper=hours)
    with DAG("{0}", schedule=schedule, pool="shared"):
        @task(outlets=[Asset("out")])
        def write():
            pass
    """


@pytest.fixture
def directory(tmp_path):
    """`fed` listens to what `feeds` writes, and is the older row."""
    found = Directory(tmp_path)
    found.write("a", FED.format("fed"))
    found.sync()
    found.write("b", FEEDS.format("feeds"))
    assert found.sync().troubles == ()
    assert dag("fed").pk < dag("feeds").pk
    return found


def while_feeds_changes(rival):
    """Change `feeds` so that `fed` has a problem; do `rival` when half of it is done."""
    row, fixed = dag("feeds"), {"type": "FixedKeyMapper", "downstream_key": "x"}
    with ThreadPoolExecutor(2) as threads:
        with transaction.atomic():
            locks.share_listening([row.pk])  # as whoever files an event: the change waits in the middle
            changing = threads.submit(apart, lambda: change(row, default_mapper=fixed))
            until_waiting(1)
            other = threads.submit(apart, rival)
            until_waiting(2)
        assert changing.result(30)
        other.result(30)
    assert sentences("fed") != []


def test_a_change_locks_those_it_feeds_before_what_it_holds(directory):
    """As pools and backfills lock Dags: by primary key. Otherwise each waits for the other's."""
    shared = Pool.objects.get(name="shared")
    while_feeds_changes(lambda: pools.change(shared, slots=3, deed=BOB, at=LATER))
    assert Pool.objects.get(name="shared").slots == 3


def test_a_change_and_a_look_at_the_files_follow_one_another(directory):
    directory.write("a", FED.format("fed").replace("Mapper()", "Mapper(input_format='%Y-%m-%dT%H:%M:%S')"))
    while_feeds_changes(lambda: directory.sync(LATER))


def test_a_look_at_the_files_locks_dags_by_primary_key(directory):
    """Whatever their order in the files."""
    directory.write("0", FEEDS.format("feeds"))
    directory.remove("b")
    with ThreadPoolExecutor(1) as threads:
        with transaction.atomic():
            list(Dag.objects.filter(dag_id="fed").select_for_update(no_key=True))
            looking = threads.submit(apart, lambda: directory.sync(LATER))
            until_waiting(1)
            rows = Dag.objects.filter(dag_id="feeds").select_for_update(no_key=True, nowait=True)
            assert rows.values_list("dag_id", flat=True)[0] == "feeds"
        assert looking.result(30).troubles == ()
