"""A year of temperatures: hours come in, days wait for their hours, months and all cities for their days.

The slices are composite, a city and a time: `seattle|2010-03-14T09:00:00`, `seattle|2010-03-14`,
`seattle|2010-03`. A day is a real day of Los Angeles time, and the source is not quite right about those:

- On 2010-03-14 clocks went from 01:59 to 03:00. The source has a reading for 02:00, an hour that did not
  exist, and none for 03:00. So that day waits for one hour and shows one key that it did not expect.
- On 2010-11-07 the hour from 01:00 came twice. The source names hours without their offset from UTC and has
  one reading for both: 24 names for 25 hours. The key format here is the source's, so 24 are expected.
"""

from calendar import monthrange
from statistics import fmean
from typing import Any

from scheduling.examples import _readings
from scheduling.sdk import (
    DailyPartitions,
    DayWindow,
    FixedKeyMapper,
    HourlyPartitions,
    IdentityMapper,
    MonthlyPartitions,
    MonthWindow,
    MultiPartitions,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
    ProductMapper,
    RollupMapper,
    SegmentWindow,
    StartOfDayMapper,
    StartOfMonthMapper,
    StaticPartitions,
    asset,
)

ZONE = "America/Los_Angeles"
CITIES = tuple(_readings.FILES)
TOGETHER = "all_cities"
YEAR = {"start": "2010-01-01", "end": "2011-01-01", "timezone": ZONE}
BY_CITY = ("city", StaticPartitions(CITIES))


@asset(
    dag_id="ingest_temperatures",
    schedule=PartitionedAtRuntime(),
    group="temperatures",
    tags=["example", "temperatures"],
    partitions=MultiPartitions((BY_CITY, ("hour", HourlyPartitions(**YEAR, key_format="%Y-%m-%dT%H:%M:%S")))),
)
def hourly_temperature(self, dag_run, outlet_events):
    """Takes one hour of a city, named by the key of the run, or a whole day, named in its conf."""
    city, readings = _asked(dag_run)
    _readings.store(city, readings)
    for hour, degrees in readings.items():
        outlet_events[self].add_partitions(f"{city}|{hour}", extra={"fahrenheit": degrees})
    print(f"{city}: {len(readings)} readings, {min(readings)} to {max(readings)}")


@asset(
    schedule=PartitionedAssetTimetable(
        assets=hourly_temperature,
        default_partition_mapper=ProductMapper(
            IdentityMapper(),
            RollupMapper(StartOfDayMapper(timezone=ZONE), DayWindow()),
        ),
    ),
    group="temperatures",
    tags=["example", "temperatures"],
    partitions=MultiPartitions((BY_CITY, ("day", DailyPartitions(**YEAR)))),
)
def daily_temperature(self, partition_key, outlet_events):
    """Sums up a day of a city when all its hours are there."""
    city, day = partition_key.split("|")
    summary = _summed(city, day)
    path = _readings.write_summary(f"daily/{city}/{day}", summary)
    outlet_events[self].extra = summary
    print(f"{path}: {summary}")


@asset(
    schedule=PartitionedAssetTimetable(
        assets=daily_temperature,
        default_partition_mapper=ProductMapper(
            IdentityMapper(),
            RollupMapper(StartOfMonthMapper(timezone=ZONE, input_format="%Y-%m-%d"), MonthWindow()),
        ),
    ),
    group="temperatures",
    tags=["example", "temperatures"],
    partitions=MultiPartitions((BY_CITY, ("month", MonthlyPartitions(**YEAR)))),
)
def monthly_temperature(self, partition_key, inlet_events, outlet_events):
    """Sums up a month of a city when all its days are there; fired before, the days that are."""
    city, month = partition_key.split("|")
    year, number = month.split("-")
    known = {event.partition_key for event in inlet_events[daily_temperature]}
    every = [f"{month}-{day:02}" for day in range(1, monthrange(int(year), int(number))[1] + 1)]
    days = [day for day in every if f"{city}|{day}" in known]
    summary = _merged([_summary(city, day) for day in days])
    _readings.write_summary(f"monthly/{city}/{month}", summary)
    outlet_events[self].extra = summary
    print(f"{partition_key}: {len(days)} days, {summary}")


@asset(
    schedule=PartitionedAssetTimetable(
        assets=daily_temperature,
        default_partition_mapper=ProductMapper(
            RollupMapper(FixedKeyMapper(TOGETHER), SegmentWindow(CITIES)),
            IdentityMapper(),
        ),
    ),
    group="temperatures",
    tags=["example", "temperatures"],
    partitions=MultiPartitions((("cities", StaticPartitions((TOGETHER,))), ("day", DailyPartitions(**YEAR)))),
)
def all_cities_temperature(self, partition_key, outlet_events):
    """Sums up a day of all cities when each has its own."""
    _, day = partition_key.split("|")
    summary = _merged([_summary(city, day) for city in CITIES])
    _readings.write_summary(f"all_cities/{day}", summary)
    outlet_events[self].extra = summary
    print(f"{partition_key}: {summary}")


def _asked(dag_run) -> tuple[str, dict[str, float]]:
    """The city and the readings that a run was started for."""
    conf = dag_run.conf
    city, _, wanted = (dag_run.partition_key or f"{conf.get('city')}|{conf.get('day')}").partition("|")
    if city not in CITIES:
        raise LookupError(
            "say what to take: a partition key such as seattle|2010-03-14T09:00:00, or a conf such as "
            '{"city": "seattle", "day": "2010-03-14"}'
        )
    found = {hour: degrees for hour, degrees in _readings.source(city).items() if hour.startswith(wanted)}
    if not found:
        raise LookupError(f"{_readings.FILES[city]} has no reading for {wanted}")
    return city, found


def _summary(city: str, day: str) -> dict[str, Any]:
    """The statistics of a day: its file or, if it was only recorded by hand, what its readings come to."""
    return _readings.read_summary(f"daily/{city}/{day}") or _summed(city, day)


def _summed(city: str, day: str) -> dict[str, Any]:
    degrees = _readings.of_day(city, day).values()
    return {
        "min": min(degrees),
        "mean": round(fmean(degrees), 2),
        "max": max(degrees),
        "count": len(degrees),
    }


def _merged(summaries: list[dict[str, Any]]) -> dict[str, Any]:
    count = sum(each["count"] for each in summaries)
    return {
        "min": min(each["min"] for each in summaries),
        "mean": round(sum(each["mean"] * each["count"] for each in summaries) / count, 2),
        "max": max(each["max"] for each in summaries),
        "count": count,
    }
