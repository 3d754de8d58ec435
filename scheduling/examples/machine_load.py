"""How busy this machine is: a reading a minute, and the hour so far, summed up with every fifth of them."""

import os
from datetime import timedelta
from statistics import fmean

from scheduling.sdk import (
    CronPartitionTimetable,
    Deadline,
    Fire,
    HourWindow,
    PartitionedAssetTimetable,
    RollupMapper,
    StartOfHourMapper,
    asset,
)

MINUTE = "%Y-%m-%dT%H:%M"


@asset(
    schedule=CronPartitionTimetable("* * * * *", key_format=MINUTE),
    catchup="none",
    group="this machine",
    tags=["example", "live"],
)
def machine_load(self, partition_key, outlet_events):
    """Reads how many processes want a processor, over the last minute."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    outlet_events[self].extra = {"load": round(load, 2)}
    print(f"{partition_key}: load {load:.2f} on {os.cpu_count()} processors")


@asset(
    schedule=PartitionedAssetTimetable(
        assets=machine_load,
        default_partition_mapper=RollupMapper(
            StartOfHourMapper(input_format=MINUTE),
            HourWindow(),
            wait_policy=Deadline(timedelta(minutes=4), Fire),
        ),
    ),
    group="this machine",
    tags=["example", "live"],
)
def hourly_load(self, partition_key, inlet_events, outlet_events):
    """Sums up an hour four minutes after its first reading, with five as a rule; and again with five more.

    It does not wait for five: of an hour near whose end the engine was started, fewer will ever come.
    """
    minutes = {
        event.partition_key: event.extra["load"]
        for event in inlet_events[machine_load][-120:]
        if "load" in event.extra and (event.partition_key or "").startswith(partition_key)
    }
    outlet_events[self].extra = {"mean": round(fmean(minutes.values()), 2), "max": max(minutes.values())}
    print(f"{partition_key}: {len(minutes)} minutes, {outlet_events[self].extra}")
