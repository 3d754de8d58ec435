"""What shows states that pass quickly: hours due long ago, very many minutes, a sensor in trouble."""

from datetime import UTC, datetime, timedelta

from scheduling.sdk import (
    DAG,
    Asset,
    CronPartitionTimetable,
    DailyPartitions,
    DayWindow,
    MinutelyPartitions,
    PartitionedAssetTimetable,
    RollupMapper,
    StartOfDayMapper,
    sensor,
    task,
)

deliveries = Asset("hourly_deliveries", group="shop")
days = Asset("daily_deliveries", group="shop", partitions=DailyPartitions("2026-03-09", end="2026-03-16"))
readings = Asset("readings", group="meters", partitions=MinutelyPartitions("2026-01-01", end="2026-03-01"))

with DAG(
    "fetch_deliveries",
    schedule=CronPartitionTimetable("0 * * * *"),
    start_date=datetime(2026, 3, 1, tzinfo=UTC),
    end_date=datetime(2026, 3, 20, tzinfo=UTC),
    catchup=False,
):

    @task(outlets=[deliveries])
    def fetch(dag_run):
        print(f"fetching {dag_run.partition_key}")

    fetch()

with DAG(
    "sum_up_deliveries",
    schedule=PartitionedAssetTimetable(
        assets=deliveries,
        default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow()),
        late_after=timedelta(hours=1),
    ),
):

    @task(outlets=[days])
    def total(dag_run):
        print(f"total of {dag_run.partition_key}")

    total()


@sensor(every="1h")
def ask_the_carrier(look):
    """Asks the carrier what has come."""
    raise ConnectionError("the carrier does not answer")
