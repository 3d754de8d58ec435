"""A Dag that waits for every hour of a day, and whose wait somebody loosens."""

from scheduling.sdk import (
    DAG,
    Asset,
    DayWindow,
    PartitionedAssetTimetable,
    RollupMapper,
    StartOfDayMapper,
    task,
)

till_counts = Asset("till_counts", group="tills")

with DAG(
    "close_tills",
    schedule=PartitionedAssetTimetable(
        assets=till_counts, default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow())
    ),
):

    @task(outlets=[Asset("closed_tills", group="tills")])
    def close(dag_run):
        print(f"closing the tills of {dag_run.partition_key}")

    close()
