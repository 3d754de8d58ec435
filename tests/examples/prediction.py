"""Which runs a replay of the temperatures must end with, computed from the files and the calendar alone."""

import csv
from collections import Counter
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from zoneinfo import ZoneInfo

ZONE = ZoneInfo("America/Los_Angeles")
SOURCES = {"seattle": "seattle-temps.csv", "sf": "sf-temps.csv"}


@lru_cache
def readings(city: str) -> dict[str, float]:
    package = Path(find_spec("vega_datasets").submodule_search_locations[0])
    with (package / "_data" / SOURCES[city]).open() as file:
        return {row["date"][:16]: float(row["temp"]) for row in csv.DictReader(file)}


def hours(day: date) -> set[str]:
    """What clocks in Los Angeles show at the full hours of a local day, whether 23, 24 or 25 of them."""
    start = datetime(day.year, day.month, day.day, tzinfo=ZONE).astimezone(UTC)
    shown = [(start + timedelta(hours=n)).astimezone(ZONE) for n in range(27)]
    return {f"{each:%Y/%m/%d %H:%M}" for each in shown if each.date() == day}


def predicted(days: list[date]) -> Counter[tuple[str, str | None]]:
    """(dag_id, partition key) of every run that a replay of `days`, of whole months or less, ends with."""
    runs: Counter[tuple[str, str | None]] = Counter()
    complete = {city: {day for day in days if hours(day) <= readings(city).keys()} for city in SOURCES}
    for city, done in complete.items():
        runs["ingest_temperatures", None] += len(days)
        runs.update(("daily_temperature", f"{city}|{day}") for day in done)
        for month in range(1, 13):
            whole = {date(2010, 1, 1) + timedelta(days=n) for n in range(365)}
            if {day for day in whole if day.month == month} <= done:
                runs["monthly_temperature", f"{city}|2010-{month:02}"] += 1
    runs.update(
        ("all_cities_temperature", f"all_cities|{day}") for day in set.intersection(*complete.values())
    )
    return runs
