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
vault_counts = Asset("vault_counts", group="tills")

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

with DAG(
    "close_vaults",
    schedule=PartitionedAssetTimetable(
        assets=vault_counts, default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow())
    ),
):

    @task(outlets=[Asset("closed_vaults", group="tills")])
    def close_vault(dag_run):
        print(f"closing the vaults of {dag_run.partition_key}")

    close_vault()
