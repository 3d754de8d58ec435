"""The samples of the talk and of the design note, as their authors write them, with our import line.

The number in a name is the number of the slide. Where a slide shows a part of a definition, the rest is the
least that makes it one.
"""

import pytest

from core.models import AssetEvent
from scheduling import events
from scheduling.events import EventReport
from tests.engine import world
from tests.engine.world import ALICE
from tests.sdk.slides import log, run
from tests.sdk.writing import NOW, asset, dag, listens

pytestmark = pytest.mark.django_db


class TestAnAsset:
    def test_05_is_a_name(self, define):
        define("""daily_sales = Asset(name="daily_sales")""")
        assert asset("daily_sales").is_active

    def test_06_is_a_uri(self, define):
        define("""daily_sales = Asset(uri="s3://warehouse/daily_sales")""")
        assert asset("s3://warehouse/daily_sales").uri == "s3://warehouse/daily_sales"


INGEST = """
    sales = Asset("sales")

    with DAG(dag_id="ingest_daily_sales"):
        @task(outlets=[sales])
        def ingest(*, outlet_events):
            outlet_events[sales].extra = {"day": "2026-03-10", "rows": 41_233}

    with DAG(dag_id="sales_summary"):
        @task(inlets=[sales])
        def report(*, inlet_events):
            events = inlet_events[sales]
            day = events[-1].extra["day"]
            print(day)
"""


class TestEvents:
    def test_22_carry_an_extra(self, define):
        define(INGEST)
        run("ingest_daily_sales")
        event = AssetEvent.objects.get()
        assert (event.asset.name, event.partition_key, event.extra) == (
            "sales",
            None,
            {"day": "2026-03-10", "rows": 41_233},
        )

    def test_23_are_read_back(self, define):
        define(INGEST)
        run("ingest_daily_sales")
        assert log(run("sales_summary")) == ["2026-03-10"]
        assert dag("sales_summary").tasks[0]["inlets"] == ["sales"]

    def test_28_carry_a_partition_key_beside_it(self, define):
        define(
            """
            sales = Asset("sales")

            with DAG("ingest_daily_sales", schedule=PartitionedAtRuntime()):
                @task(outlets=[sales])
                def ingest(*, outlet_events):
                    outlet_events[sales].extra = {"day": "2026-03-10"}
                    outlet_events[sales].add_partitions("2026-03-10")
            """
        )
        run("ingest_daily_sales")
        event = AssetEvent.objects.get()
        assert (event.partition_key, event.extra) == ("2026-03-10", {"day": "2026-03-10"})


class TestRuns:
    def test_49_know_which_slice_they_own(self, define):
        define(
            """
            def load(path): return path
            def write_summary(day, rows): print(day, rows)

            with DAG("summary", schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d")):
                @task
                def summarize(dag_run=None):
                    day = dag_run.partition_key  # "2026-03-10"
                    rows = load(f"s3://warehouse/sales/{day}/")
                    write_summary(day, rows)
            """
        )
        assert log(run("summary", key="2026-03-10")) == ["2026-03-10 s3://warehouse/sales/2026-03-10/"]


TEAMS = """
    team_a = team_a_player_stats = Asset("team_a_stats")
    team_b = team_b_player_stats = Asset("team_b_stats")
    team_c = team_c_player_stats = Asset("team_c_stats")
"""


class TestConsumers:
    def test_52_60_61_align_three_producers_on_the_hour(self, define):
        define(
            TEAMS
            + """
    with DAG(
        dag_id="clean_and_combine_player_stats",
        schedule=PartitionedAssetTimetable(
            assets=team_a & team_b & team_c,
            default_partition_mapper=StartOfHourMapper(),
        ),
        catchup=False,
    ):
        ...

    with DAG(
        "again",
        schedule=PartitionedAssetTimetable(
            assets=team_a_player_stats & team_b_player_stats & team_c_player_stats,
            default_partition_mapper=StartOfHourMapper(),
        )
    ): ...
            """
        )
        assert dag("again").schedule == dag("clean_and_combine_player_stats").schedule
        assert listens("again") == [(f"team_{letter}_stats", "StartOfHourMapper") for letter in "abc"]
        world.emit("team_a_stats", "2026-03-10T09:00:00")
        world.emit("team_b_stats", "2026-03-10T09:15:00")
        world.turn()
        assert world.fired("again") == []
        world.emit("team_c_stats", "2026-03-10T09:30:00")
        world.turn()
        assert world.fired("again") == ["2026-03-10T09"]

    def test_53_do_not_count_an_event_without_a_key(self, define):
        define("""DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a")))""")
        world.emit("a", None)
        world.turn()
        assert world.fired("c") == []

    def test_54_55_take_the_same_key_by_default(self, define):
        define("""DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a")))""")
        assert listens("c") == [("a", "IdentityMapper")]
        world.emit("a", "2026-03-10")
        world.turn()
        assert world.fired("c") == ["2026-03-10"]

    def test_62_override_one_asset_at_a_time(self, define):
        define(
            """
            hourly_sales, daily_targets = Asset("hourly_sales"), Asset("daily_targets")
            DAG(
                "c",
                schedule=PartitionedAssetTimetable(
                    assets=hourly_sales & daily_targets,
                    default_partition_mapper=StartOfDayMapper(),
                    partition_mapper_config={
                        daily_targets: IdentityMapper(),
                    },
                )
            )
            """
        )
        assert listens("c") == [("hourly_sales", "StartOfDayMapper"), ("daily_targets", "IdentityMapper")]
        world.emit("hourly_sales", "2026-03-10T09:00:00")
        world.emit("daily_targets", "2026-03-10")
        world.turn()
        assert world.fired("c") == ["2026-03-10"]


class TestDesignNote:
    def test_three_assets_of_one_partition(self, define):
        define(
            """
            sales_data = Asset(name="sales_data")
            inventory_data = Asset(name="inventory_data")
            pricing_data = Asset(name="pricing_data")

            schedule = PartitionedAssetTimetable(
                assets=sales_data & inventory_data & pricing_data,  # AND condition
                partition_mapper=IdentityMapper(),  # pass partition key through unchanged
            )

            DAG("consumer", schedule=schedule)
            """
        )
        names = ["sales_data", "inventory_data", "pricing_data"]
        assert listens("consumer") == [(name, "IdentityMapper") for name in names]
        for name in names:
            assert world.fired("consumer") == []
            report = EventReport(asset(name), "2024-01-15")
            events.register_events([report], source=AssetEvent.Source.API, deed=ALICE, at=NOW)
            world.turn()
        assert world.fired("consumer") == ["2024-01-15"]
