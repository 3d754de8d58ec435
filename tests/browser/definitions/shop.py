"""What the browser tests run: a day of hours, a Dag that fails until it is mended, and a key by the day."""

import os
import time
from pathlib import Path

from scheduling.sdk import (
    DAG,
    Asset,
    CronPartitionTimetable,
    DailyPartitions,
    DayWindow,
    DynamicPartitions,
    HourlyPartitions,
    IdentityMapper,
    MinimumCount,
    MultiPartitions,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
    ProductMapper,
    RollupMapper,
    StartOfDayMapper,
    StartOfHourMapper,
    StaticPartitions,
    task,
)

PERIOD = {"start": "2026-03-09", "end": "2026-03-16"}

SECONDS = "%Y-%m-%dT%H:%M:%S"

hourly_sales = Asset("hourly_sales", group="shop", partitions=HourlyPartitions(**PERIOD, key_format=SECONDS))
daily_sales = Asset("daily_sales", group="shop", partitions=DailyPartitions(**PERIOD))
stock_lists = Asset(
    "stock_lists", group="shop", partitions=DailyPartitions(start="2026-02-01", end="2026-04-01")
)
shelves = Asset(
    "shelves",
    group="shop",
    partitions=MultiPartitions(
        {"aisle": StaticPartitions(["a", "b", "c"]), "side": StaticPartitions(["left", "right"])}
    ),
)
invoices = Asset("invoices", group="shop")
hourly_visits = Asset(
    "hourly_visits", group="shop", partitions=HourlyPartitions(**PERIOD, key_format=SECONDS)
)
daily_visits = Asset("daily_visits", group="shop", partitions=DailyPartitions(**PERIOD))
stores = Asset("stores", group="shop", partitions=DynamicPartitions("store"))

with DAG(
    "sum_up_sales",
    schedule=PartitionedAssetTimetable(
        assets=hourly_sales, default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow())
    ),
):

    @task(outlets=[daily_sales])
    def total(dag_run):
        print(f"total of {dag_run.partition_key}")

    total()

with DAG(
    "send_invoices",
    schedule=CronPartitionTimetable("0 6 1 1 *", key_format="%Y-%m-%d", timezone="Europe/Ljubljana"),
    catchup=False,
):

    @task(outlets=[invoices])
    def send(dag_run):
        print(f"sending invoices of {dag_run.partition_key}")
        if not Path(os.environ["PARTITA_DATA_DIR"], "paper").exists():
            raise RuntimeError("the printer is out of paper")

    send()

with DAG("fill_shelves", schedule=PartitionedAtRuntime()):

    @task(outlets=[shelves])
    def fill(dag_run):
        print(f"filling {dag_run.partition_key}")

    fill()

with DAG("open_store", schedule=PartitionedAtRuntime()):

    @task(outlets=[stores])
    def open_store(dag_run):
        print(f"opening {dag_run.partition_key}")

    open_store()

with DAG("make_stock_lists", schedule=PartitionedAtRuntime()):

    @task(outlets=[stock_lists])
    def count_stock(dag_run):
        print(f"stock of {dag_run.partition_key}")

    count_stock()

with DAG(
    "price_markets",
    schedule=PartitionedAssetTimetable(
        assets=Asset("market_prices", group="markets"),
        default_partition_mapper=ProductMapper(IdentityMapper(), StartOfHourMapper(output_format=SECONDS)),
    ),
):

    @task(outlets=[Asset("price_lists", group="markets")])
    def price(dag_run):
        print(f"prices of {dag_run.partition_key}")

    price()

with DAG("count_slowly", schedule=PartitionedAtRuntime()):

    @task
    def count():
        """Writes a line every fifth of a second until a file says that it may end."""
        end = Path(os.environ["PARTITA_DATA_DIR"], "counted")
        for number in range(600):
            print(f"line {number}")
            if end.exists():
                return
            time.sleep(0.2)

    count()

with DAG("count_visits", schedule=PartitionedAtRuntime()):

    @task(outlets=[hourly_visits])
    def count_them(dag_run):
        print(f"visits of {dag_run.partition_key}")

    count_them()

with DAG(
    "sum_up_visits",
    schedule=PartitionedAssetTimetable(
        assets=hourly_visits,
        default_partition_mapper=RollupMapper(StartOfDayMapper(), DayWindow(), wait_policy=MinimumCount(-2)),
    ),
):

    @task(outlets=[daily_visits])
    def sum_of_visits(dag_run):
        print(f"visits of {dag_run.partition_key}")

    sum_of_visits()
