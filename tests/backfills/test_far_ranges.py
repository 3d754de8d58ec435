"""Ranges that reach further than anybody means: over more keys than a plan holds, or to the last year."""

import pytest

from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.time_shorthands import MinutelyPartitions, MonthlyPartitions, YearlyPartitions
from scheduling.backfills import Dates, TooManyKeys
from tests.backfills.play import keys, plan, producer
from tests.engine.world import DAILY, asset, dag
from tests.moments import utc

pytestmark = pytest.mark.django_db

EVER = Dates(utc("0001-01-01"), utc("9999-12-31T23:59:59.999999"))
"""From the first to the last instant that Python knows."""


def every(minutes, **fields):
    return dag("ticking", DAILY | {"cron": minutes, "key_format": "%Y-%m-%dT%H:%M"}, writes=["out"], **fields)


def defined(definition):
    return producer(writes=asset("far", partitions=specs.dump(definition)).name)


class TestMoreThanAPlanHolds:
    DATES = Dates(utc("2026-06-01"), utc("2028-06-01"))
    WORDS = "from 2026-06-01 to 2028-06-01 are too many for one plan: select 1,000,000 at most"

    def test_by_the_dates_of_a_cron_are_refused(self):
        with pytest.raises(TooManyKeys, match=self.WORDS):
            plan(every("* * * * *"), dates=self.DATES)

    def test_by_the_dates_of_a_definition_are_refused(self):
        with pytest.raises(TooManyKeys, match=self.WORDS):
            plan(defined(MinutelyPartitions("2026-03-01")), dates=self.DATES)

    def test_typed_are_refused(self):
        made = every("* * * * *", start_date=utc("2026-03-01"))
        with pytest.raises(TooManyKeys, match="2,108,160 partitions are too many"):
            plan(made, selection="[2022-01-01...2026-01-03]")

    def test_of_all_there_are_are_refused(self):
        with pytest.raises(TooManyKeys, match="2,205,360 partitions are too many"):
            plan(defined(MinutelyPartitions("2022-01-01")), now=utc("2026-03-12T12:00"))

    def test_to_the_end_of_the_calendar_are_refused(self):
        with pytest.raises(TooManyKeys, match="from 2026-06-01 to 9998-01-01 are too many"):
            plan(every("* * * * *"), dates=Dates(utc("2026-06-01"), EVER.last))


class TestFewToTheEndOfTheCalendar:
    def test_by_the_dates_of_a_cron(self):
        found = keys(every("0 0 1 1 *"), dates=Dates(utc("9990-06-01"), EVER.last))
        assert found == [f"{year}-01-01T00:00" for year in range(9991, 9998)]

    def test_from_the_first_instant_to_the_last(self):
        assert len(keys(every("0 0 1 1 *"), dates=EVER)) > 9000

    def test_by_the_dates_of_a_definition(self):
        assert keys(defined(YearlyPartitions("2020-01-01", "2023-01-01")), dates=EVER) == [
            "2020",
            "2021",
            "2022",
        ]

    def test_of_composite_keys_are_those_there_are(self):
        months = MonthlyPartitions("2026-01-01")
        made = defined(MultiPartitions({"region": StaticPartitions(["de"]), "month": months}))
        assert keys(made, dates=EVER) == ["de|2026-01", "de|2026-02"]
