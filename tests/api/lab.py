"""Definitions like those behind the recordings in `wire/`: every one behaves as Airflow's do."""

from scheduling.sdk import (
    DAG,
    Asset,
    AssetTimetable,
    CronPartitionTimetable,
    DayWindow,
    FixedKeyMapper,
    MinimumCount,
    PartitionedAssetTimetable,
    PartitionedAtRuntime,
    RollupMapper,
    SegmentWindow,
    StartOfDayMapper,
    task,
)

TAGS = ["lab"]

sales = Asset(name="sales_data", uri="s3://lab/sales_data")
inventory = Asset(name="inventory_data", uri="s3://lab/inventory_data")
pricing = Asset(name="pricing_data", uri="s3://lab/pricing_data")
hourly_sales = Asset(name="hourly_sales", uri="s3://lab/hourly_sales")
daily_sales_summary = Asset(name="daily_sales_summary", uri="s3://lab/daily_sales_summary")
plain_asset = Asset(name="plain_asset", uri="s3://lab/plain_asset")
regional_orders = Asset(name="regional_orders", uri="s3://lab/regional_orders", extra={"owner": "lab"})
all_orders = Asset(name="all_orders", uri="s3://lab/all_orders")

day_of_hours = RollupMapper(StartOfDayMapper(), DayWindow())
most_of_a_day = RollupMapper(StartOfDayMapper(), DayWindow(), wait_policy=MinimumCount(-1))
three_regions = RollupMapper(FixedKeyMapper("all_regions"), SegmentWindow(["jp", "tw", "us"]))


def waiting_for(assets, mapper=None):
    mappers = {} if mapper is None else {"default_partition_mapper": mapper}
    return PartitionedAssetTimetable(assets=assets, late="restart", **mappers)


with DAG(dag_id="lab_hourly_sales", schedule=CronPartitionTimetable("0 * * * *", timezone="UTC"), tags=TAGS):

    @task(outlets=[hourly_sales])
    def produce():
        pass

    produce()

with DAG(dag_id="lab_daily_sales", schedule=waiting_for(hourly_sales, day_of_hours), tags=TAGS):

    @task(outlets=[daily_sales_summary], inlets=[hourly_sales])
    def summarise():
        pass

    summarise()

with DAG(dag_id="lab_daily_sales_tolerant", schedule=waiting_for(hourly_sales, most_of_a_day), tags=TAGS):
    pass

with DAG(dag_id="lab_and_of_three", schedule=waiting_for(sales & inventory & pricing), tags=TAGS):
    pass

with DAG(dag_id="lab_region_rollup", schedule=waiting_for(regional_orders, three_regions), tags=TAGS):

    @task(outlets=[all_orders])
    def combine():
        pass

    combine()

with DAG(dag_id="lab_ingest_regional_orders", schedule=PartitionedAtRuntime(), tags=TAGS):

    @task(outlets=[regional_orders])
    def ingest():
        pass

    ingest()

with DAG(dag_id="lab_plain", schedule=None, tags=TAGS):

    @task(outlets=[plain_asset])
    def plain():
        pass

    plain()

with DAG(dag_id="lab_plain_consumer", schedule=AssetTimetable(assets=sales & plain_asset), tags=TAGS):
    pass
