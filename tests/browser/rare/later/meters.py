"""An asset of which nobody knows before nobody works any more: nothing of it is ever drawn."""

from scheduling.sdk import DAG, Asset, MinutelyPartitions, PartitionedAtRuntime, task

meters = Asset("meters", group="meters", partitions=MinutelyPartitions("2026-01-01", end="2026-01-08"))

with DAG("read_meters", schedule=PartitionedAtRuntime()):

    @task(outlets=[meters])
    def read(dag_run):
        print(f"reading {dag_run.partition_key}")

    read()
