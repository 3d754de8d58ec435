"""Rollups of the talk, and the keys that its mappers fire: each slide defined, loaded and run."""

import pytest

from scheduling.algebra import specs
from tests.engine import world
from tests.sdk.writing import dag, listens, source

pytestmark = pytest.mark.django_db


MAPPERS = [
    (56, "StartOfWeekMapper()", "2026-03-10T00:00:00", ["2026-03-09 (W11)"]),
    (59, "StartOfHourMapper()", "2026-03-10T09:37:51", ["2026-03-10T09"]),
    (59, "StartOfDayMapper()", "2026-03-10T09:37:51", ["2026-03-10"]),
    (59, "StartOfMonthMapper()", "2026-03-10T09:37:51", ["2026-03"]),
    (59, "StartOfQuarterMapper()", "2026-03-10T09:37:51", ["2026-Q1"]),
    (59, "StartOfYearMapper()", "2026-03-10T09:37:51", ["2026"]),
    (63, "ProductMapper(IdentityMapper(), StartOfDayMapper())", "tw|2026-03-10T09:00:00", ["tw|2026-03-10"]),
    (
        64,
        'ChainMapper(StartOfHourMapper(), StartOfDayMapper(input_format="%Y-%m-%dT%H"))',
        "2026-03-10T09:37:51",
        ["2026-03-10"],
    ),
    (65, 'AllowedKeyMapper(["tw", "jp", "us"])', "jp", ["jp"]),
    (65, 'AllowedKeyMapper(["tw", "jp", "us"])', "eu", []),
    (66, 'FixedKeyMapper("all_countries")', "tw", ["all_countries"]),
    (
        84,
        "FanOutMapper(upstream_mapper=StartOfWeekMapper(), window=WeekWindow(), max_downstream_keys=7)",
        "2026-03-09T00:00:00",
        [f"2026-03-{day:02}" for day in range(9, 16)],
    ),
    (
        85,
        "FanOutMapper(upstream_mapper=StartOfWeekMapper(), window=WeekWindow(), max_downstream_keys=6)",
        "2026-03-09T00:00:00",
        [],
    ),
]


@pytest.mark.parametrize(("slide", "mapper", "key", "fired"), MAPPERS)
def test_56_to_66_and_84_mappers_fire_the_keys_they_show(define, slide, mapper, key, fired):
    define(
        f"""
        DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a"), default_partition_mapper={mapper}))
        """
    )
    world.emit("a", key)
    world.turn()
    assert world.fired("c") == fired


class TestRollups:
    def define_rollup(self, define, mapper: str) -> None:
        define(
            f"""
            DAG("c", schedule=PartitionedAssetTimetable(assets=Asset("a"), default_partition_mapper={mapper}))
            """
        )

    def test_76_77_hold_until_all_hours_are_there(self, define):
        self.define_rollup(define, "RollupMapper(upstream_mapper=StartOfHourMapper(), window=DayWindow())")
        world.emit("a", *world.hours("2026-03-10", *[hour for hour in range(24) if hour not in (9, 11)]))
        world.turn()
        assert world.fired("c") == []
        assert world.held("c", "2026-03-10").sentence == "waiting on 2 of 24: hours 09, 11"
        world.emit("a", *world.hours("2026-03-10", 9, 11))
        world.turn()
        assert world.fired("c") == ["2026-03-10"]

    @pytest.mark.parametrize(
        ("mapper", "window", "key", "needs"),
        [
            ('StartOfHourMapper(input_format="%Y-%m-%dT%H:%M")', "HourWindow()", "2026-03-10T09", 60),
            ("StartOfDayMapper()", "DayWindow()", "2026-03-10", 24),
            ('StartOfWeekMapper(input_format="%Y-%m-%d")', "WeekWindow()", "2026-03-09 (W11)", 7),
            ('StartOfMonthMapper(input_format="%Y-%m-%d")', "MonthWindow()", "2026-03", 31),
            ('StartOfQuarterMapper(input_format="%Y-%m-%d")', "QuarterWindow()", "2026-Q1", 90),
            ('StartOfYearMapper(input_format="%Y-%m-%d")', "YearWindow()", "2026", 365),
            ('FixedKeyMapper("all")', 'SegmentWindow(["tw", "jp", "us"])', "all", 3),
        ],
    )
    def test_78_need_every_member_of_the_window(self, define, mapper, window, key, needs):
        self.define_rollup(define, f"RollupMapper({mapper}, {window})")
        stored = specs.load(dag("c").dependencies.get().mapper, "mapper")
        assert len(stored.required(key)) == needs

    def test_80_fail_loudly_where_they_are_defined(self, directory):
        name = directory.write(
            "loud",
            """
            RollupMapper(
                upstream_mapper=IdentityMapper(),
                window=DayWindow(),
            )
            """,
        )
        directory.write("quiet", """DAG("neighbour")""")
        directory.sync()
        assert "DayWindow" in source(name).error
        assert source(name).error_line == 3
        assert dag("neighbour").is_active

    def test_80_fail_with_a_type_error(self):
        from scheduling.sdk import DayWindow, IdentityMapper, RollupMapper

        with pytest.raises(TypeError, match="DayWindow"):
            RollupMapper(upstream_mapper=IdentityMapper(), window=DayWindow())

    def test_81_do_not_wait_forever(self, define):
        self.define_rollup(
            define,
            """RollupMapper(
                upstream_mapper=StartOfHourMapper(),
                window=DayWindow(),
                wait_policy=MinimumCount(23),
            )""",
        )
        world.emit("a", *world.hours("2026-03-10", *range(22)))
        world.turn()
        assert world.fired("c") == []
        world.emit("a", *world.hours("2026-03-10", 23))
        world.turn()
        assert world.fired("c") == ["2026-03-10"]

    @pytest.mark.parametrize(
        ("policy", "fired"),
        [("WaitForAll()", []), ("MinimumCount(2)", ["all"]), ("MinimumCount(-1)", ["all"])],
    )
    def test_82_wait_as_their_policy_says(self, define, policy, fired):
        self.define_rollup(
            define,
            f'RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]), wait_policy={policy})',
        )
        world.emit("a", "tw", "jp")
        world.turn()
        assert world.fired("c") == fired

    def test_83_hold_until_every_declared_region_is_there(self, define):
        self.define_rollup(
            define,
            """RollupMapper(
                upstream_mapper=FixedKeyMapper("all_countries"),
                window=SegmentWindow(["tw", "jp", "us"]),
            )""",
        )
        world.emit("a", "tw", "jp")
        world.turn()
        assert world.fired("c") == []
        world.emit("a", "us")
        world.turn()
        assert world.fired("c") == ["all_countries"]

    @pytest.mark.parametrize(
        ("direction", "first", "last"),
        [("BACKWARD", "2026-03-03", "2026-03-09"), ("FORWARD", "2026-03-09", "2026-03-15")],
    )
    def test_86_look_back_or_ahead(self, define, direction, first, last):
        self.define_rollup(
            define,
            f"""RollupMapper(
                StartOfWeekMapper(input_format="%Y-%m-%d", output_format="%Y-%m-%d"),
                WeekWindow(direction=Window.Direction.{direction}),
            )""",
        )
        required = specs.load(dag("c").dependencies.get().mapper, "mapper").required("2026-03-09")
        assert (required[0], required[-1], len(required)) == (first, last, 7)


class TestNeverFiring:
    """Slide 68: `2026` can never equal `2026-03-10T09`."""

    ODDS = """
    combined_stats, team_a_stats = Asset("combined_stats"), Asset("team_a_stats")
    team_b_stats = Asset("team_b_stats")

    with DAG(
        dag_id="player_odds_quality_check_wont_ever_to_trigger",
        schedule=PartitionedAssetTimetable(
            assets=(combined_stats & team_a_stats & Asset.ref(name="team_b_stats")),
            partition_mapper_config={
                combined_stats: StartOfYearMapper(),
                team_a_stats: StartOfHourMapper(),
            },
        ),
    ):
        ...
    """

    def test_68_is_loaded(self, directory):
        directory.write("odds", self.ODDS)
        directory.sync()
        assert listens("player_odds_quality_check_wont_ever_to_trigger") == [
            ("combined_stats", "StartOfYearMapper"),
            ("team_a_stats", "StartOfHourMapper"),
            ("team_b_stats", "IdentityMapper"),
        ]

    def test_68_says_that_it_never_fires(self, directory):
        directory.write("odds", self.ODDS)
        report = directory.sync()
        row = dag("player_odds_quality_check_wont_ever_to_trigger")
        assert row.problems[0]["code"] == "never-fires"
        assert row.problems[0]["level"] == "error"
        assert row.problems[0]["sentence"].startswith("2026 can never equal 2026-03-10T09: ")
        assert report.troubles == (f"Dag {row.dag_id}: {row.problems[0]['sentence']}",)
