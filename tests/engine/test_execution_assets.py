"""What tasks emit to outlets, and what they read of inlets."""

from datetime import datetime

import pytest

from core.models import AssetEvent, DagRun
from scheduling import execution
from tests.engine import world
from tests.engine.executing import SECOND, defined, emitted, log, run
from tests.engine.world import NOW


@pytest.mark.django_db
class TestOutlets:
    def test_get_an_event_with_the_key_of_the_run(self, directory):
        defined(
            directory,
            """
            with DAG("d", schedule=CronPartitionTimetable("0 * * * *")):
                @task(outlets=[Asset("x"), Asset("y")])
                def write(): ...
            """,
        )
        ended = run(key="2026-03-11T09:00:00")
        assert emitted(ended) == [("x", "2026-03-11T09:00:00", {}), ("y", "2026-03-11T09:00:00", {})]
        event = AssetEvent.objects.get(asset__name="x")
        assert (event.source, event.source_task_id, event.timestamp) == ("run", "write", NOW + SECOND)
        assert event.partition_date == datetime.fromisoformat("2026-03-11T09:00:00+00:00")
        assert world.part("x", "2026-03-11T09:00:00").state == "materialized"

    def test_get_the_keys_that_the_task_names(self, directory):
        defined(
            directory,
            """
            @asset(uri="file://incoming/multi-region.csv", schedule=PartitionedAtRuntime())
            def regions(self, outlet_events):
                outlet_events[self].extra = {"source": "ftp"}
                outlet_events[self].add_partitions(["tw", "jp", "tw"])
                outlet_events[self].add_partitions("us", extra={"rows": 5})
            """,
        )
        assert emitted(run("regions")) == [
            ("regions", "tw", {"source": "ftp"}),
            ("regions", "jp", {"source": "ftp"}),
            ("regions", "us", {"source": "ftp", "rows": 5}),
        ]

    def test_get_nothing_if_the_code_names_the_keys_and_names_none(self, directory):
        defined(directory, """@asset(schedule=PartitionedAtRuntime())\ndef regions(self): ...""")
        ended = run("regions")
        assert (ended.state, emitted(ended)) == ("success", [])

    def test_get_the_key_that_somebody_triggered_if_the_code_names_none(self, directory):
        defined(directory, """@asset(schedule=PartitionedAtRuntime())\ndef regions(self): ...""")
        assert emitted(run("regions", key="tw")) == [("regions", "tw", {})]

    def test_get_the_named_keys_rather_than_the_one_of_the_run(self, directory):
        defined(
            directory,
            """
            @asset(schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d"))
            def sales(self, outlet_events): outlet_events[self].add_partitions("elsewhere")
            """,
        )
        assert emitted(run("sales", key="2026-03-11")) == [("sales", "elsewhere", {})]

    def test_get_an_event_without_key_from_a_dag_without_keys(self, directory):
        defined(
            directory,
            """@asset(schedule=None)\ndef sales(self, outlet_events): outlet_events[self].extra = {"n": 1}""",
        )
        assert emitted(run("sales")) == [("sales", None, {"n": 1})]

    def test_get_one_event_for_a_key_that_two_tasks_name(self, directory):
        defined(
            directory,
            """
            x = Asset("x")
            with DAG("d", schedule=PartitionedAtRuntime()):
                @task(outlets=[x])
                def one(outlet_events): outlet_events[x].add_partitions(["a", "b"])
                @task(outlets=[x])
                def two(outlet_events): outlet_events[x].add_partitions(["b", "c"])
                one() >> two()
            """,
        )
        assert [key for _, key, _ in emitted(run())] == ["a", "b", "c"]

    @pytest.mark.parametrize("first", ["...", 'outlet_events[x].add_partitions("2026-03-11")'])
    @pytest.mark.parametrize("second", ["...", 'outlet_events[x].add_partitions("2026-03-11")'])
    def test_get_one_event_for_the_key_of_the_run_that_two_tasks_write(self, directory, first, second):
        defined(
            directory,
            f"""
            x = Asset("x")
            with DAG("d", schedule=CronPartitionTimetable("0 0 * * *", key_format="%Y-%m-%d")):
                @task(outlets=[x])
                def one(outlet_events): {first}
                @task(outlets=[x])
                def two(outlet_events): {second}
                one() >> two()
            """,
        )
        assert [key for _, key, _ in emitted(run(key="2026-03-11"))] == ["2026-03-11"]

    def test_get_one_event_without_a_key_from_a_run_that_has_none(self, directory):
        defined(
            directory,
            """
            x = Asset("x")
            with DAG("d"):
                @task(outlets=[x])
                def one(): ...
                @task(outlets=[x])
                def two(): ...
                one() >> two()
            """,
        )
        assert emitted(run()) == [("x", None, {})]

    def test_reach_the_consumers(self, directory):
        """From the code of a producer to the run of a consumer, nothing by hand but the turning."""
        defined(
            directory,
            """
            @asset(schedule=PartitionedAtRuntime())
            def regions(self, outlet_events): outlet_events[self].add_partitions(["tw", "jp", "us"])

            @asset(schedule=PartitionedAssetTimetable(
                assets=regions,
                partition_mapper=RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"])),
            ))
            def world(self, triggering_asset_events, partition_key):
                events = triggering_asset_events[regions]
                print(partition_key, len(events), [event.partition_key for event in events])
            """,
        )
        run("regions")
        world.turn()
        [made] = DagRun.objects.filter(dag__dag_id="world")
        execution.execute(world.start(made), clock=lambda: NOW)
        assert log(made) == ["all 3 ['tw', 'jp', 'us']"]
        assert emitted(made) == [("world", "all", {})]


@pytest.mark.django_db
class TestInlets:
    @pytest.fixture(autouse=True)
    def sales(self, directory):
        """Five events of one asset, and a Dag that reads them in the way that each test says."""
        self.directory = directory
        defined(directory, """sales = Asset("sales", uri="s3://sales")""")
        world.emit("sales", *[f"2026-03-0{day}" for day in range(1, 6)])

    def read(self, expression: str) -> list[str]:
        defined(
            self.directory,
            f"""
            sales = Asset("sales", uri="s3://sales")
            with DAG("d"):
                @task(inlets=[sales])
                def report(*, inlet_events, triggering_asset_events):
                    print({expression})
            """,
        )
        ended = run()
        assert ended.state == "success", ended.error
        return log(ended)

    @pytest.mark.parametrize(
        ("expression", "printed"),
        [
            ("inlet_events[sales][-1].partition_key", "2026-03-05"),
            ("inlet_events[sales][0].partition_key", "2026-03-01"),
            ("inlet_events[sales][-5].partition_key", "2026-03-01"),
            ("len(inlet_events[sales])", "5"),
            ("[event.partition_key[-2:] for event in inlet_events[sales]]", "['01', '02', '03', '04', '05']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][-2:]]", "['04', '05']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][1:4:2]]", "['02', '04']"),
            ("[event.partition_key[-2:] for event in inlet_events[sales][::-2]]", "['05', '03', '01']"),
            ("[event.partition_key[-2:] for event in reversed(inlet_events[sales])][:2]", "['05', '04']"),
            ("inlet_events[Asset.ref(name='sales')][-1].source", "api"),
            ("inlet_events[Asset.ref(uri='s3://sales')][-1].source", "api"),
            ("inlet_events['sales'][-1].timestamp.isoformat()", NOW.isoformat()),
            ("list(inlet_events), len(inlet_events)", "['sales'] 1"),
            ("len(triggering_asset_events[sales])", "0"),
        ],
    )
    def test_are_read_like_a_list_per_asset(self, expression, printed):
        assert self.read(expression) == [printed]

    def test_give_the_extra_that_an_event_was_given(self):
        defined(
            self.directory,
            """
            sales = Asset("sales")
            with DAG("ingest"):
                @task(outlets=[sales])
                def ingest(*, outlet_events):
                    outlet_events[sales].extra = {"day": "2026-03-10", "rows": 41_233}
            """,
        )
        run("ingest")
        assert self.read("inlet_events[sales][-1].extra['day']") == ["2026-03-10"]

    @pytest.mark.parametrize("expression", ["inlet_events[sales][5]", "inlet_events[sales][-6]"])
    def test_end_where_the_events_end(self, expression):
        defined(
            self.directory,
            f"""
            sales = Asset("sales")
            with DAG("d"):
                @task
                def report(*, inlet_events): {expression}
            """,
        )
        assert run().error.endswith("IndexError: there are only 5 events")

    def test_refuse_what_is_no_asset(self):
        defined(
            self.directory,
            """with DAG("d"):\n    @task\n    def report(*, inlet_events): inlet_events["prices"]""",
        )
        assert run().error.endswith("NoSuchAsset: there is no asset with the name 'prices'")
