"""Ticks that differ from the recording are explained only where the explanation is true."""

import pytest

from tests.conformance.answers import answer
from tests.conformance.rules import rule_for
from tests.conformance.vectors import Vector

HOURLY = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "timezone": "America/New_York"}


def vector(timetable, runs, *, start="2024-03-10T00:00:00Z", end="2024-03-10T01:30:00Z"):
    case = {"op": "cron_iter", "timetable": timetable, "from": start, "to": end, "max": 60}
    return Vector("x", "CronPartitionTimetable", case, {"runs": runs, "truncated": False})


def row(at, key, date=None):
    return [f"{at}Z", key, f"{date or at}Z"]


def reason(asked):
    found = rule_for(asked, answer(asked.case))
    return found.name if found else None


def test_reads_the_clock_face_of_both_ends_in_the_zone_of_the_timetable():
    daily = {**HOURLY, "cron": "@daily", "key_format": "%Y-%m-%d"}
    runs = [row("2024-03-10T05:00:00", "2024-03-10")]
    asked = vector(daily, runs, start="2024-03-10T00:00:00+08:00", end="2024-03-10T12:00:00+08:00")
    assert answer(asked.case) == asked.expect


def test_an_offset_more_at_the_end_of_a_key_is_explained():
    runs = [
        row("2024-03-10T05:00:00", "2024-03-10T00:00:00"),
        row("2024-03-10T06:00:00", "2024-03-10T01:00:00"),
    ]
    assert reason(vector(HOURLY, runs)) == "offsets in sub-day keys"


def test_a_tick_too_few_away_from_any_change_is_not():
    runs = [row("2024-06-10T04:00:00", "2024-06-10T00:00:00")]
    asked = vector(HOURLY, runs, start="2024-06-10T00:00:00Z", end="2024-06-10T01:30:00Z")
    assert reason(asked) is None


def test_another_key_is_not():
    runs = [
        row("2024-03-10T05:00:00", "2024-03-10T00:00:00"),
        row("2024-03-10T06:00:00", "2024-03-10T02:00:00"),
    ]
    assert reason(vector(HOURLY, runs)) is None


def test_one_date_for_each_key_is_explained():
    coarse = {**HOURLY, "timezone": "UTC", "key_format": "%Y-%m-%d"}
    runs = [row(f"2024-03-10T0{hour}:00:00", "2024-03-10") for hour in range(2)]
    assert reason(vector(coarse, runs)) == "one date for each key"


def test_a_tick_more_in_the_hour_after_a_gap_is_explained():
    daily = {**HOURLY, "cron": "30 2 * * *", "key_format": "%Y-%m-%dT%H:%M"}
    runs = [row("2024-03-10T07:30:00", "2024-03-10T03:30")]
    asked = vector(daily, runs, start="2024-03-10T00:00:00Z", end="2024-03-10T12:00:00Z")
    assert reason(asked) == "ticks where clocks change"


@pytest.mark.parametrize("cron", ["not a cron", "60 * * * *", "", "0 0 30 2 *"])
def test_a_cron_is_read_when_it_is_checked(cron):
    spec = {**HOURLY, "cron": cron}
    assert answer({"op": "construct", "timetable": spec}) == {"ok": True}
    assert answer({"op": "cron_validate", "timetable": spec})["error"]["stage"] == "call"


@pytest.mark.parametrize(("catchup", "at"), [(True, "2024-03-08T05:00:00Z"), (False, "2024-03-10T05:00:00Z")])
def test_begins_where_catching_up_says(catchup, at):
    case = {"op": "cron_next", "timetable": {**HOURLY, "cron": "@daily"}, "catchup": catchup, "n": 1}
    case |= {"earliest": "2024-03-08T00:00:00Z", "now": "2024-03-10T12:00:00Z"}
    assert answer(case)["runs"][0][0] == at


def test_ends_where_nothing_is_left():
    case = {"op": "cron_next", "timetable": {**HOURLY, "cron": "@daily"}, "catchup": True, "n": 5}
    case |= {"earliest": "2024-03-08T00:00:00Z", "latest": "2024-03-09T12:00:00Z"}
    assert [run and run[0] for run in answer(case)["runs"]] == [
        "2024-03-08T05:00:00Z",
        "2024-03-09T05:00:00Z",
        None,
    ]
