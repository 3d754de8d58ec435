"""Dags that wait for every hour of a day, and whose wait somebody loosens."""

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


def day_of_hours(counts):
    """Runs for a day of `counts` when all of its hours are there."""
    rollup = RollupMapper(StartOfDayMapper(), DayWindow())
    return PartitionedAssetTimetable(assets=counts, default_partition_mapper=rollup)


with DAG("close_tills", schedule=day_of_hours(till_counts)):

    @task(outlets=[Asset("closed_tills", group="tills")])
    def close(dag_run):
        print(f"closing the tills of {dag_run.partition_key}")

    close()

with DAG("close_vaults", schedule=day_of_hours(vault_counts)):

    @task(outlets=[Asset("closed_vaults", group="tills")])
    def close_vault(dag_run):
        print(f"closing the vaults of {dag_run.partition_key}")

    close_vault()
