"""Where the temperatures come from, and where what is made of them goes.

The source is two files of the package vega-datasets: a reading for each hour of 2010 in Seattle and in San
Francisco, in local time without offsets from UTC.
"""

import csv
import json
import os
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from django.conf import settings

FILES = {"seattle": "seattle-temps.csv", "sf": "sf-temps.csv"}


@lru_cache(maxsize=len(FILES))
def source(city: str) -> Mapping[str, float]:
    """Every reading of a city in degrees Fahrenheit, by hour as in `2010-03-14T09:00:00`."""
    with (_source_directory() / FILES[city]).open(newline="") as file:
        return {_hour(row["date"]): float(row["temp"]) for row in csv.DictReader(file)}


def store(city: str, readings: Mapping[str, float]) -> None:
    """Keep readings, each in place of the one there was."""
    with closing(_database()) as database, database:
        database.executemany(
            "INSERT OR REPLACE INTO reading VALUES (?, ?, ?)",
            [(city, hour, degrees) for hour, degrees in readings.items()],
        )


def of_day(city: str, day: str) -> dict[str, float]:
    """The readings of one day by hour: as they are kept or, of an hour that never came in, as in the source.

    Somebody who records an hour by hand says that it is there, and keeps nothing.
    """
    with closing(_database()) as database:
        rows = database.execute(
            "SELECT hour, degrees FROM reading WHERE city = ? AND hour LIKE ?", (city, f"{day}T%")
        ).fetchall()
    return {hour: degrees for hour, degrees in source(city).items() if hour.startswith(day)} | dict(rows)


def write_summary(name: str, summary: Mapping[str, Any]) -> Path:
    """Write a file of statistics. It is replaced whole, so nobody reads half of one."""
    path = _summary(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(f".{os.getpid()}.draft")
    draft.write_text(json.dumps(summary, indent=2) + "\n")
    draft.replace(path)
    return path


def read_summary(name: str) -> dict[str, Any] | None:
    """The file of statistics of that name, if there is one."""
    path = _summary(name)
    return json.loads(path.read_text()) if path.exists() else None


def directory() -> Path:
    """Where all of it is."""
    return Path(settings.DATA_DIR) / "demo"


def _summary(name: str) -> Path:
    return directory() / f"{name}.json"


def _source_directory() -> Path:
    """Found without importing the package, which would want pandas."""
    package = find_spec("vega_datasets")
    if package is None or not package.submodule_search_locations:
        raise FileNotFoundError(
            "the temperatures come with the package vega-datasets: pip install --no-deps vega-datasets"
        )
    return Path(package.submodule_search_locations[0]) / "_data"


def _hour(date: str) -> str:
    """`2010/03/14 09:00` and `2010/03/14 09:00:00` as `2010-03-14T09:00:00`."""
    return f"{date[:10].replace('/', '-')}T{date[11:16]}:00"


def _database() -> sqlite3.Connection:
    directory().mkdir(parents=True, exist_ok=True)
    database = sqlite3.connect(directory() / "readings.sqlite3", timeout=20)
    # Not waiting for the disk is safe enough here: all of it can be read from the source again.
    database.execute("PRAGMA synchronous=OFF")
    database.execute(
        "CREATE TABLE IF NOT EXISTS reading (city TEXT, hour TEXT, degrees REAL, PRIMARY KEY (city, hour))"
    )
    return database
