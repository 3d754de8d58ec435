"""Loading definitions writes what Dags listen to and what they write."""

import pytest

from core.models import HeldRun
from scheduling import listening
from tests.engine import world
from tests.sdk.writing import LATER, NOW, dag, listens, sentences, writes

CONSUMER = """
    with DAG("consumer", schedule=PartitionedAssetTimetable(assets=Asset("a") & Asset("b"))):
        pass
"""


class TestDependencies:
    def test_are_written_with_the_mapper_of_each_asset(self, directory):
        directory.write(
            "a",
            """
            hourly, daily = Asset("hourly"), Asset("daily")
            DAG("d", schedule=PartitionedAssetTimetable(
                assets=hourly & daily,
                default_partition_mapper=StartOfDayMapper(),
                partition_mapper_config={daily: IdentityMapper()},
            ))
            """,
        )
        directory.sync()
        assert listens("d") == [("hourly", "StartOfDayMapper"), ("daily", "IdentityMapper")]
        assert [each.leaf for each in dag("d").dependencies.order_by("pk")] == [
            {"asset": "hourly"},
            {"asset": "daily"},
        ]

    def test_of_a_dag_that_is_not_partition_aware_have_no_mapper(self, directory):
        directory.write("a", """DAG("d", schedule=Asset("a") | Asset("b"))""")
        directory.sync()
        assert listens("d") == [("a", None), ("b", None)]

    @pytest.mark.parametrize(("producer", "consumer"), [("a", "b"), ("b", "a")])
    def test_find_references_defined_before_or_after(self, directory, producer, consumer):
        directory.write(producer, """x = Asset("x", uri="s3://x")\ny = Asset("y")""")
        directory.write(
            consumer,
            """
            both = Asset.ref(uri="s3://x") & Asset.ref(name="y")
            DAG("d", schedule=PartitionedAssetTimetable(assets=both))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "IdentityMapper"), ("y", "IdentityMapper")]
        assert dag("d").problems == []

    def test_wait_for_references_that_nothing_defines_yet(self, directory):
        directory.write(
            "a", """DAG("d", schedule=PartitionedAssetTimetable(assets=Asset.ref(uri="s3://x")))"""
        )
        directory.sync()
        assert listens("d") == [(None, "IdentityMapper")]
        assert sentences("d", "warning") == [
            "nothing defines an asset with the uri s3://x yet: its events cannot arrive"
        ]
        revision = dag("d").revision
        directory.write("b", """x = Asset("x", uri="s3://x")""")
        directory.sync(LATER)
        assert listens("d") == [("x", "IdentityMapper")]
        assert dag("d").revision == revision + 1
        assert dag("d").problems == []

    def test_take_the_mapper_that_is_configured_by_another_name_of_the_asset(self, directory):
        directory.write(
            "a",
            """
            x = Asset("x", uri="s3://x")
            DAG("d", schedule=PartitionedAssetTimetable(
                assets=Asset.ref(name="x"),
                partition_mapper_config={Asset.ref(uri="s3://x"): StartOfDayMapper()},
            ))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "StartOfDayMapper")]

    def test_that_name_one_asset_twice_are_an_error(self, directory):
        directory.write(
            "a",
            """
            x = Asset("x", uri="s3://x")
            DAG("d", schedule=PartitionedAssetTimetable(assets=x & Asset.ref(uri="s3://x")))
            """,
        )
        directory.sync()
        assert listens("d") == [("x", "IdentityMapper"), (None, "IdentityMapper")]
        assert sentences("d") == ["the schedule names asset x twice, by name and by uri: name it once"]

    def test_may_exchange_their_assets(self, directory):
        text = """
            x, y = Asset("x", uri="s3://{}"), Asset("y", uri="s3://{}")
            DAG("d", schedule=PartitionedAssetTimetable(assets=Asset.ref(uri="s3://1") & Asset.ref(uri="s3://2")))
        """
        directory.write("a", text.format(1, 2))
        directory.sync()
        assert [name for name, _ in listens("d")] == ["x", "y"]
        directory.write("a", text.format(2, 1))
        directory.sync(LATER)
        assert [name for name, _ in listens("d")] == ["y", "x"]

    def test_keep_their_age_when_their_mapper_changes(self, directory):
        text = """DAG("d", schedule=PartitionedAssetTimetable(assets=Asset("a"), partition_mapper={}()))"""
        directory.write("a", text.format("IdentityMapper"))
        directory.sync()
        directory.write("a", text.format("StartOfDayMapper"))
        directory.sync(LATER)
        assert listens("d") == [("a", "StartOfDayMapper")]
        assert dag("d").dependencies.get().created_at == NOW

    def test_go_with_the_condition(self, directory):
        directory.write("a", CONSUMER)
        directory.sync()
        directory.write("a", CONSUMER.replace('Asset("a") & ', ""))
        directory.sync(LATER)
        assert listens("consumer") == [("b", "IdentityMapper")]


class TestOutlets:
    def test_follow_the_tasks(self, directory):
        text = """
            with DAG("d"):
                @task(outlets=[{}])
                def write(): ...
        """
        directory.write("a", text.format('Asset("x"), Asset("y")'))
        directory.sync()
        assert writes("d") == [("write", "x"), ("write", "y")]
        directory.write("a", text.format('Asset("y"), Asset("z")'))
        directory.sync(LATER)
        assert writes("d") == [("write", "y"), ("write", "z")]


class TestChangedListening:
    @pytest.fixture
    def held(self, directory) -> HeldRun:
        directory.write("a", CONSUMER)
        directory.sync()
        world.emit("a", "k")
        world.turn()
        return world.held("consumer", "k")

    def test_is_read_anew_and_judges_held_runs_again(self, directory, held):
        """`a & b` waits for b; with `a | b` the same held run, with the same received key, may fire."""
        revision = dag("consumer").revision
        directory.write("a", CONSUMER.replace("&", "|"))
        directory.sync(LATER)
        assert dag("consumer").revision == revision + 1
        assert listening.of_dag(dag("consumer")).listening.condition.words() == "a or b"
        world.turn(LATER)
        assert world.fired("consumer") == ["k"]
        held.refresh_from_db()
        assert held.received.count() == 1

    def test_is_not_made_of_a_new_description(self, directory, held):
        revision = dag("consumer").revision
        directory.write(
            "a", CONSUMER.replace('"consumer",', '"consumer", description="Combines", tags=["x"],')
        )
        directory.sync(LATER)
        held.refresh_from_db()
        assert (dag("consumer").revision, held.judge_after) == (revision, None)

    def test_loses_nothing_received_when_a_dag_goes_and_comes_back(self, directory, held):
        directory.remove("a")
        directory.sync(LATER)
        directory.write("a", CONSUMER)
        directory.sync(LATER)
        world.emit("b", "k", at=LATER)
        world.turn(LATER)
        assert world.fired("consumer") == ["k"]

    def test_of_a_cron_starts_ticking_from_now(self, directory):
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("0 0 * * *"))""")
        directory.sync(NOW)
        world.turn(LATER)
        directory.write("c", """DAG("c", schedule=CronPartitionTimetable("*/10 * * * *"))""")
        directory.sync(LATER)
        world.turn(LATER)
        assert world.fired("c") == []
        world.turn(LATER.replace(minute=35))
        assert [key[11:] for key in world.fired("c")] == ["10:20:00", "10:30:00"]
