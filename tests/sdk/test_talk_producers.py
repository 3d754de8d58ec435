"""Producers of the talk, as their authors write them. The number in a name is the number of the slide."""

from datetime import UTC, datetime

import pytest

from core.models import DagRun
from scheduling import execution
from tests.engine import world
from tests.sdk.slides import keys_of, run
from tests.sdk.writing import NOW, asset, dag, writes

pytestmark = pytest.mark.django_db


class TestProducers:
    @pytest.mark.parametrize("slide", [42, 45])
    def test_42_45_have_no_schedule_and_are_partitioned(self, define, slide):
        define(
            """
            @asset(
                uri="file://incoming/live-region.csv",
                schedule=PartitionedAtRuntime(),
            )
            def live_region_stats(self, outlet_events):
                outlet_events[self].add_partitions("tw")
            """
        )
        assert asset("live_region_stats").uri == "file://incoming/live-region.csv"
        assert dag("live_region_stats").schedule == {"type": "PartitionedAtRuntime"}
        world.turn()
        assert world.fired("live_region_stats") == []
        run("live_region_stats")
        assert keys_of("live_region_stats") == ["tw"]

    def test_43_put_the_key_on_the_cadence(self, define):
        define(
            """
            @asset(
                uri="file://incoming/player-stats/team_b.csv",
                schedule=CronPartitionTimetable("15 * * * *", timezone="UTC"),
            )
            def team_b_player_stats():
                pass
            """
        )
        world.turn(datetime(2026, 3, 11, 11, 20, tzinfo=UTC))
        made = list(DagRun.objects.order_by("pk"))
        assert [each.partition_key for each in made] == [
            "2026-03-11T09:15:00",
            "2026-03-11T10:15:00",
            "2026-03-11T11:15:00",
        ]
        execution.execute(world.start(made[0], at=datetime(2026, 3, 11, 12, tzinfo=UTC)), clock=lambda: NOW)
        assert keys_of("team_b_player_stats") == ["2026-03-11T09:15:00"]

    def test_44_may_be_a_classic_dag(self, define):
        define(
            """
            team_a_player_stats = Asset("team_a_player_stats")

            with DAG(
                dag_id="ingest_team_a_player_stats",
                schedule=CronPartitionTimetable("0 * * * *", timezone="UTC"),
            ):

                @task(outlets=[team_a_player_stats])
                def ingest_team_a_stats():
                    pass
            """
        )
        assert writes("ingest_team_a_player_stats") == [("ingest_team_a_stats", "team_a_player_stats")]
        run("ingest_team_a_player_stats", key="2026-03-11T09:00:00")
        assert keys_of("team_a_player_stats") == ["2026-03-11T09:00:00"]

    def test_46_emit_many_partitions_from_one_run(self, define):
        define(
            """
            @asset(
                uri="file://incoming/multi-region.csv",
                schedule=PartitionedAtRuntime(),
            )
            def multi_region_stats(self, outlet_events):
                outlet_events[self].add_partitions(["tw", "jp", "us"])
                outlet_events[self].add_partitions(["us", "tw"])
            """
        )
        run("multi_region_stats")
        assert keys_of("multi_region_stats") == ["tw", "jp", "us"]

    @pytest.mark.parametrize("landed", [True, False])
    def test_47_have_a_cadence_and_name_the_key_themselves(self, define, landed):
        define(
            f"""
            @asset(schedule=CronRuntimePartitionTimetable("0 6 * * *"))
            def landed(self, outlet_events):
                if {landed}:
                    outlet_events[self].add_partitions("2026-03-10")

            @asset(schedule=PartitionedAssetTimetable(assets=landed))
            def downstream(self): ...
            """
        )
        at = datetime(2026, 3, 12, 6, 0, 10, tzinfo=UTC)
        world.turn(at)
        [made] = DagRun.objects.all()
        assert (made.run_type, made.partition_key) == ("scheduled", None)
        execution.execute(world.start(made, at=at), clock=lambda: at)
        world.turn(at)
        assert world.fired("downstream") == (["2026-03-10"] if landed else [])

    def test_47_may_bring_their_own_timetable(self, define):
        """The escape hatch: a timetable of the author's own, with a cadence and keys that the run names."""
        define(
            """
            from dataclasses import dataclass

            @register
            @dataclass(frozen=True)
            class WhenItLands(CronTriggerTimetable):
                at_runtime = True

            @asset(schedule=WhenItLands("0 6 * * *"))
            def landed(self): ...
            """
        )
        assert dag("landed").schedule == {"type": "WhenItLands", "cron": "0 6 * * *"}
        assert (dag("landed").is_periodic, dag("landed").is_partitioned) == (True, True)
