"""The part of a Dag's page that says why a partition has not run, and the ways to it."""

from datetime import timedelta

import pytest

from scheduling import runs
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, consumer, emit, hours, turn
from tests.web.reading import read

pytestmark = pytest.mark.django_db

DAY = "2026-03-10"
HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}


@pytest.fixture
def day(db):
    """A day that waits for hours 09 and 22."""
    world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
    consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
    emit("hourly", *hours(DAY, *(n for n in range(24) if n not in (9, 22))))
    turn()
    return world.held("sum", DAY)


def ask(visitor, key, dag="sum"):
    return read(visitor.part(f"/dags/{dag}?why={key}", "why"))


def test_a_page_that_is_not_asked_only_offers_to_explain(visitor, day):
    page = read(visitor.get("/dags/sum"))
    assert "Type a key: the answer names the fewest missing facts" in page.text
    assert "data-live" not in page.all("section", id="why")[0].attributes


def test_names_what_it_takes_and_what_happens_then(visitor, day):
    page = ask(visitor, DAY)
    assert "It is held, waiting on 2 of 24: hours 09, 22." in page.text
    assert "What it takes: 2 events" in page.text
    assert "When that has come it fires at once and becomes a queued run." in page.text
    assert page.links["Its held run"] == f"/held/{day.pk}"
    assert page.links["Trigger ingest…"] == "/trigger?dag=ingest&key=2026-03-10T22%3A00%3A00"
    assert page.elements[0].attributes["data-live"] == "5"


def test_keys_that_are_owed_alike_are_one_row(visitor):
    start = world.NOW - timedelta(days=9)
    world.dag("ingest", HOURLY, writes=["hourly"], start_date=start, is_paused=True)
    consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, 5, 6))
    turn()
    page = ask(visitor, DAY)
    assert "What it takes: 22 events" in page.text
    assert "hourly 22 keys : hours 00–04, 07–23" in page.text
    assert "expected 2026-03-10 00:00:00 UTC to 2026-03-10 23:00:00 UTC" in page.text
    plan = "/backfills/new?dag=ingest&selection=2026-03-10T00%3A00%3A00%2C"
    assert page.links["Backfill ingest…"].startswith(plan)
    assert page.links[f"{DAY}T23:00:00"] == f"/assets/hourly?key={DAY}T23%3A00%3A00"
    assert "Record an event…" not in page.links


MARCH = {"type": "TimePartitions", "cadence": "hour", "key_format": "%Y-%m-%dT%H:%M:%S"}


def test_a_backfill_of_what_is_owed_is_written_as_a_range(visitor):
    world.asset("hourly", partitions=MARCH | {"start": "2026-03-01"})
    world.dag("ingest", HOURLY, writes=["hourly"], start_date=world.NOW - timedelta(days=9), is_paused=True)
    consumer("sum", {"hourly": HOURS_TO_DAY})
    emit("hourly", *hours(DAY, 0, 23))
    turn()
    plan = "selection=%5B2026-03-10T01%3A00%3A00...2026-03-10T22%3A00%3A00%5D"
    assert ask(visitor, DAY).links["Backfill ingest…"].endswith(plan)


def test_what_no_definition_has_never_comes_and_is_not_backfilled(visitor):
    world.asset("hourly", partitions=MARCH | {"start": "2026-03-01", "end": "2026-03-10"})
    world.dag("ingest", {"type": "PartitionedAtRuntime"}, writes=["hourly"])
    consumer("sum", {"hourly": HOURS_TO_DAY})
    page = ask(visitor, DAY)
    assert "It can never run by itself: hourly is to have no such key as 2026-03-10T00:00:00" in page.text
    assert "cannot come: hourly is to have no such key" in page.text
    assert "fires at once" not in page.text
    assert "Backfill ingest…" not in page.links
    assert "fires at once" in ask(visitor, "2026-03-09").text


def test_a_key_that_counts_for_nothing_is_named(visitor, day):
    emit("hourly", f"{DAY}T09:30:00")
    turn()
    page = ask(visitor, DAY)
    assert "Unexpected of hourly: 1 key that the schedule does not require" in page.text
    assert page.links[f"{DAY}T09:30:00"] == f"/assets/hourly?key={DAY}T09%3A30%3A00"


def test_what_is_asked_stays_in_the_field(visitor, day):
    assert read(visitor.get(f"/dags/sum?why={DAY}")).fields["why"] == DAY


def test_what_is_in_the_way_is_linked(visitor):
    made = world.dag("load", {"type": "PartitionedAtRuntime"}, max_active_runs=1)
    first, second = [runs.trigger(made, Ask(key), deed=ALICE, at=NOW) for key in ("a", "b")]
    world.start(first)
    page = ask(visitor, "b", "load")
    assert "load may have 1 at a time, and 1 is running. Behind load a ." in page.text
    assert page.links["load a"] == f"/runs/{first.pk}"
    assert page.links["queued"] == f"/runs/{second.pk}"


def test_a_key_that_can_never_be_says_so(visitor, day):
    assert "never tomorrow It can never run:" in ask(visitor, "tomorrow").text


def test_an_empty_key_is_asked_for(visitor, day):
    assert "say which partition: every run of sum has a partition key" in ask(visitor, "").text


def test_a_dag_without_keys_is_asked_for_none(visitor):
    world.dag("by hand")
    page = read(visitor.get("/dags/by hand?why="))
    assert "somebody has to trigger it" in page.text
    assert page.fields["why"] == ""


def test_held_runs_and_partitions_lead_to_it(visitor, day):
    address = f"/dags/sum?why={DAY}#why"
    assert read(visitor.get(f"/held/{day.pk}")).links["Why?"] == address
    assert read(visitor.part(f"/assets/daily?key={DAY}", "panel")).links["Why?"] == address
