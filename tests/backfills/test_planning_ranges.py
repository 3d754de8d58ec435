"""Ranges of a plan: which keys are between two, in keys and in dates."""

import pytest

from scheduling import runs
from scheduling.algebra import specs
from scheduling.algebra.calendars import BusinessCalendar
from scheduling.algebra.selections import InvalidSelection
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, MinutelyPartitions, YearlyPartitions
from scheduling.backfills import CannotBackfill, Dates
from tests.backfills.play import daily, hourly, keys, plan, producer
from tests.engine.world import asset, dag
from tests.moments import utc

pytestmark = pytest.mark.django_db


class TestRangesThatOthersGotWrong:
    def test_tc_18_hours(self):
        made = producer(writes=hourly(start="2026-06-18").name)
        now = utc("2026-06-19")
        assert keys(made, now=now, selection="[2026-06-18T08...2026-06-18T09]") == [
            "2026-06-18T08",
            "2026-06-18T09",
        ]
        assert keys(made, now=now, selection="[2026-06-18T08...2026-06-18T08]") == ["2026-06-18T08"]
        dates = Dates(utc("2026-06-18T08:00"), utc("2026-06-18T08:00"))
        assert keys(made, now=now, dates=dates) == ["2026-06-18T08"]

    def test_tc_18_one_local_midnight(self):
        made = producer(writes=daily("local", timezone="America/New_York").name)
        midnight = utc("2026-03-05T05:00")
        assert keys(made, dates=Dates(midnight, midnight)) == ["2026-03-05"]

    def test_tc_19_minutes(self):
        minutes = MinutelyPartitions("2026-03-10")
        made = producer(writes=asset("minutes", partitions=specs.dump(minutes)).name)
        assert len(keys(made, selection="[2026-03-10T01:00...2026-03-10T01:05]")) == 6

    def test_tc_19_years(self):
        years = YearlyPartitions("2018-01-01")
        made = producer(writes=asset("years", partitions=specs.dump(years)).name)
        assert keys(made, dates=Dates(utc("2021-01-01"), utc("2021-12-31"))) == ["2021"]

    def test_tc_19_months_by_cron(self):
        monthly = {"type": "CronPartitionTimetable", "cron": "0 9 1 * *", "timezone": "Europe/Berlin"}
        made = dag("monthly", monthly, writes=["out"])
        [part] = plan(made, dates=Dates(utc("2019-01-01"), utc("2019-03-31"))).parts
        dates = [runs.date_of(made, key) for key in part.order]
        assert dates == [utc("2019-01-01T08:00"), utc("2019-02-01T08:00"), utc("2019-03-01T08:00")]

    def test_tc_19_days(self):
        made = producer(writes=daily(start="2024-09-01").name)
        text = "[2024-09-05...2024-09-07]"
        assert keys(made, selection=text) == ["2024-09-05", "2024-09-06", "2024-09-07"]
        assert keys(made, selection=text, end_exclusive=True) == ["2024-09-05", "2024-09-06"]

    def test_tc_19_the_wrong_way_round(self):
        made = producer()
        with pytest.raises(InvalidSelection, match="starts after its end"):
            plan(made, selection="[2026-03-05...2026-03-01]")
        with pytest.raises(CannotBackfill, match="starts after its end"):
            plan(made, dates=Dates(utc("2026-03-05"), utc("2026-03-01")))

    def test_tc_19_a_range_that_hits_nothing_names_the_nearest(self):
        calendar = TimePartitions("day", "2026-03-01", exclusions=(BusinessCalendar(),))
        made = producer(writes=asset("weekdays", partitions=specs.dump(calendar)).name)
        with pytest.raises(InvalidSelection, match="the nearest: 2026-03-06 and 2026-03-09"):
            plan(made, selection="[2026-03-07...2026-03-08]")

    @pytest.mark.parametrize(
        ("zone", "offset", "last"),
        [
            ("UTC", 0, "2023-12-03"),
            ("Pacific/Auckland", 0, "2023-12-04"),
            ("UTC", 1, "2023-12-04"),
            ("Pacific/Auckland", 1, "2023-12-05"),
            ("UTC", -1, "2023-12-02"),
            ("Pacific/Auckland", -1, "2023-12-03"),
        ],
    )
    def test_tc_20_the_last_complete_day(self, zone, offset, last):
        made = producer(writes=daily("d", "2023-12-01", timezone=zone, end_offset=offset).name)
        assert keys(made, now=utc("2023-12-04T22:00"))[-1] == last

    def test_tc_22_friday_ends_when_saturday_begins(self):
        weekdays = DailyPartitions("2023-10-23", timezone="Etc/GMT-2", exclusions=(BusinessCalendar(),))
        made = producer(writes=asset("weekdays", partitions=specs.dump(weekdays)).name)
        assert keys(made, now=utc("2023-10-27T21:59"))[-1] == "2023-10-26"
        assert keys(made, now=utc("2023-10-27T22:00"))[-1] == "2023-10-27"
        assert keys(made, now=utc("2023-10-30T22:00"))[-2:] == ["2023-10-27", "2023-10-30"]


class TestRanges:
    def test_a_dag_that_takes_one_key_is_not_given_more(self):
        with pytest.raises(CannotBackfill, match="a run of Dag load takes one key: its definition says so"):
            plan(producer(), keys_per_run=None)

    def test_a_dag_that_takes_some_is_not_given_more_than_that(self):
        made = producer(max_keys_per_run=5)
        with pytest.raises(CannotBackfill, match="takes 5 keys at most"):
            plan(made, keys_per_run=6)
        assert plan(made, keys_per_run=5).count == 10

    def test_a_run_of_too_many_keys_is_refused(self, monkeypatch):
        monkeypatch.setattr("scheduling.backfills.planning.MOST_KEYS_PER_RUN", 5)
        with pytest.raises(CannotBackfill, match="one run cannot take 10 keys of Dag load: 5 at most"):
            plan(producer(max_keys_per_run=None), keys_per_run=None)

    @pytest.mark.parametrize("options", [{"keys_per_run": 0}, {"max_active_runs": 0}])
    def test_of_nothing_are_refused(self, options):
        with pytest.raises(CannotBackfill, match="from 1 on"):
            plan(producer(max_keys_per_run=None), **options)
