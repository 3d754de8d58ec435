"""Schedules as requests say them: the lab's daily sales, and one that tolerates an hour."""

from tests.engine.world import HOURS_TO_DAY, hours

URL = "/api/v2/dags/lab_daily_sales/schedule"
DAY = hours("2026-03-10", *range(24))
TOLERANT = HOURS_TO_DAY | {"wait_policy": {"type": "MinimumCount", "n": -1}}


def proposal(schedule, mapper=TOLERANT, **fields):
    return schedule["schedule"] | {"default_mapper": mapper} | fields


def body(schedule, mapper=TOLERANT, **fields):
    return {
        "schedule": proposal(schedule, mapper),
        "reason": "Sundays have 23",
        "revision": schedule["revision"],
    } | fields
