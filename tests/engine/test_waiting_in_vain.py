"""Held runs that need keys which their assets are not to have."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import HeldRun
from scheduling import assessing, holds
from scheduling.explain import Standing
from tests.engine import world
from tests.engine.asking import why
from tests.engine.world import HOURS_TO_DAY, IDENTITY, NOW, consumer, emit, fired, held, hours, turn
from tests.sdk.writing import LATER, Directory

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"
HOURLY = {"type": "TimePartitions", "cadence": "hour", "key_format": "%Y-%m-%dT%H:%M:%S"}
TO_TEN = HOURLY | {"start": "2026-03-01", "end": f"{DAY}T22:00"}
SAID = (
    "waits for what is not to come: hourly is to have hours from 2026-03-01 to before "
    "2026-03-10T22:00 (UTC), so not hours 22, 23"
)


@pytest.fixture
def day(db):
    """Hours 22 and 23 are not to be, 09 is only late."""
    world.asset("hourly", partitions=TO_TEN)
    consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, *(n for n in range(22) if n != 9)))
    turn()
    return held("sum", DAY)


def test_says_so_and_is_listed_so(day):
    assert (day.verdict, day.sentence) == ("unreachable", SAID)
    assert (day.required_count, day.received_count) == (24, 21)


def test_the_explanation_agrees_and_a_report_by_hand_counts(day):
    said = why(day.dag, DAY)
    assert said.standing is Standing.HELD
    assert said.sentence == f"It is held, {SAID}."
    assert "Reported by hand, it would count." in said.outcome
    emit("hourly", *hours(DAY, 9, 22, 23))
    turn()
    assert fired("sum") == [DAY]


def test_waits_where_a_tick_makes_the_key_all_the_same(db):
    cron = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
    world.asset("hourly", partitions=TO_TEN)
    world.dag("ingest", cron, writes=["hourly"], is_paused=True)
    consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, *range(22)))
    turn()
    assert held("sum", DAY).verdict == "waiting"


def test_waits_for_what_people_may_add(db):
    world.asset("shops", partitions={"type": "DynamicPartitions", "name": "shops"})
    consumer("joined", {"a": IDENTITY, "shops": IDENTITY})
    emit("a", "north")
    turn()
    assert held("joined", "north").verdict == "waiting"


def test_the_number_of_queries_does_not_grow_with_assets_or_keys(db):
    def queries(number):
        for each in range(number):
            world.asset(f"b{number}{each}", partitions={"type": "StaticPartitions", "keys": ["x"]})
            consumer(f"joined{number}{each}", {"a": IDENTITY, f"b{number}{each}": IDENTITY})
        emit("a", *(f"{number}{key}" for key in range(number)))
        turn()
        rows = list(HeldRun.objects.select_related("dag").filter(partition_key__startswith=number))
        assessing.assess(rows, now=NOW)
        with CaptureQueriesContext(
            connection,
        ) as found:
            verdicts = assessing.assess(rows, now=NOW)
        assert {each.kind for each in verdicts.values()} == {"unreachable"}
        return len(found)

    assert queries(1) == queries(7)


@pytest.fixture
def directory(db, tmp_path):
    return Directory(tmp_path)


DEFINED = """
    days = Asset("days", partitions=StaticPartitions([{keys}]))
    DAG("c", schedule=PartitionedAssetTimetable(assets=days & Asset("a")))
    """


def test_hopes_anew_when_the_definition_gets_the_key_and_no_more_when_it_loses_it(directory):
    directory.write("c", DEFINED.format(keys="'tw'"))
    directory.sync()
    emit("a", "us")
    turn()
    assert held("c", "us").verdict == "unreachable"
    for keys, verdict in (("'tw', 'us'", "waiting"), ("'tw'", "unreachable")):
        directory.write("c", DEFINED.format(keys=keys))
        directory.sync(LATER)
        turn(LATER)
        assert held("c", "us").verdict == verdict


def test_hopes_anew_when_a_dag_begins_to_make_the_key(directory):
    directory.write("c", DEFINED.format(keys=f"'{DAY}'"))
    directory.sync()
    emit("a", "2026-03-11")
    turn()
    assert held("c", "2026-03-11").verdict == "unreachable"
    directory.write(
        "p",
        """
        with DAG("p", schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d")):
            @task(outlets=[Asset("days")])
            def write():
                pass
        """,
    )
    directory.sync(LATER)
    while holds.judge_due(now=LATER):
        pass
    assert held("c", "2026-03-11").verdict == "waiting"


FIXED = {"type": "FixedKeyMapper", "downstream_key": "us"}


def test_where_any_key_will_do_the_explanation_names_one_that_can_come(db):
    world.asset("b", partitions={"type": "StaticPartitions", "keys": ["tw"]})
    made = consumer("joined", {"a": IDENTITY, "b": FIXED})
    emit("a", "us")
    turn()
    found = why(made, "us")
    assert [(fact.leaf.words(), fact.key, fact.expected.is_never) for fact in found.facts] == [
        ("b", "tw", False)
    ]
    assert found.fires
    emit("b", "tw")
    turn()
    assert fired("joined") == ["us"]


def test_where_nothing_is_there_the_explanation_opens_it_with_a_key_that_can_come(db):
    world.asset("b", partitions={"type": "StaticPartitions", "keys": ["tw"]})
    made = consumer("alone", {"b": FIXED})
    assert [(fact.key, fact.expected.is_never) for fact in why(made, "us").facts] == [("tw", False)]


def test_where_no_key_of_the_list_will_do_the_explanation_says_that_none_can_come(db):
    world.asset("b", partitions={"type": "StaticPartitions", "keys": hours(DAY, 9, 22)})
    made = consumer("joined", {"a": IDENTITY, "b": {"type": "StartOfDayMapper"}})
    emit("a", DAY, "2026-03-11")
    turn()
    assert held("joined", DAY).verdict == "waiting"
    assert held("joined", "2026-03-11").verdict == "unreachable"
    found = why(made, "2026-03-11")
    assert "none of which maps here" in found.sentence
    assert [fact.expected.is_never for fact in found.facts] == [True]
    assert "Reported by hand, it would count." in found.outcome


SPREAD = {
    "type": "FanOutMapper",
    "upstream_mapper": {"type": "AllowedKeyMapper", "allowed_keys": ["us"]},
    "window": {"type": "SegmentWindow", "segments": ["x", "y"]},
    "downstream_mapper": IDENTITY,
}
HAS_TWO = "b is to have 2 listed keys, none of which maps here"


def test_where_nobody_can_name_a_key_the_explanation_says_that_none_can_come(db):
    world.asset("b", partitions={"type": "StaticPartitions", "keys": ["tw", "jp"]})
    made = consumer("joined", {"a": IDENTITY, "b": SPREAD})
    emit("a", "x")
    turn()
    assert held("joined", "x").sentence == f"waits for what is not to come: {HAS_TWO}"
    found = why(made, "x")
    assert [(fact.key, fact.untimed) for fact in found.facts] == [
        ("", "cannot come: no key that b is to have maps here")
    ]
    assert found.outcome == (
        "By itself it never fires: no key that b is to have maps here. Reported by hand, one would count."
    )
    assert not found.fires
    emit("b", "us")
    turn()
    assert fired("joined") == ["x"]


def test_nor_is_it_to_run_where_nothing_is_held(db):
    world.asset("b", partitions={"type": "StaticPartitions", "keys": ["tw", "jp"]})
    found = why(consumer("alone", {"b": SPREAD}), "x")
    assert (found.standing, found.fires) == (Standing.NEVER, False)
    assert found.sentence == "It can never run by itself: no key that b is to have maps here."
