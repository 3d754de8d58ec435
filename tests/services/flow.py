"""Hours that are cleaned, summed up by day, joined with prices: definitions that the workers of a test load.

`LISTENING` says the same to the reference model.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from scheduling.sdk import (
    DAG,
    Asset,
    DayWindow,
    FanOutMapper,
    IdentityMapper,
    Mapper,
    PartitionedAssetTimetable,
    RollupMapper,
    StartOfDayMapper,
    task,
)


@dataclass(frozen=True)
class Listening:
    """The mapper of each asset that a Dag waits for, all of them, and the asset that it writes."""

    mappers: Mapping[str, Mapper]
    writes: str


LISTENING = {
    "clean": Listening({"readings": IdentityMapper()}, "cleaned"),
    "day": Listening({"cleaned": RollupMapper(StartOfDayMapper(), DayWindow())}, "days"),
    "report": Listening({"days": IdentityMapper(), "prices": IdentityMapper()}, "reports"),
    "spread": Listening(
        {"prices": FanOutMapper(StartOfDayMapper(input_format="%Y-%m-%d"), DayWindow())}, "hourly prices"
    ),
}
ASSETS = {
    name: Asset(name)
    for name in sorted(
        {name for each in LISTENING.values() for name in each.mappers}
        | {each.writes for each in LISTENING.values()}
    )
}


def define(name: str, listening: Listening) -> DAG:
    first, *others = (ASSETS[each] for each in listening.mappers)
    expression = first
    for other in others:
        expression = expression & other
    mappers = {ASSETS[each]: mapper for each, mapper in listening.mappers.items()}
    timetable = PartitionedAssetTimetable(expression, partition_mapper_config=mappers)
    # Workers are killed more often than a run would usually be taken again.
    with DAG(name, schedule=timetable, max_attempts=50, max_active_runs=4) as dag:

        @task(outlets=[ASSETS[listening.writes]])
        def work(partition_key):
            return partition_key

        work()
    return dag


DAGS = [define(name, listening) for name, listening in LISTENING.items()]
