"""What never comes: keys that an asset is not to have, unless another key of it counts as them."""

from datetime import timedelta

import pytest

from scheduling.algebra import closed as closing
from scheduling.algebra.closed import Closed
from scheduling.algebra.conditions import Any, AssetLeaf
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.lacking import lacks_of
from scheduling.algebra.mappers import AllowedKeyMapper, FixedKeyMapper, IdentityMapper
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.policies import Cancel, Deadline, Fire, MinimumCount, WaitForAll
from scheduling.algebra.progress import Held
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.sliding import SlidingWindowMapper
from scheduling.algebra.spreads import FanOutMapper
from scheduling.algebra.temporal import StartOfDayMapper, StartOfHourMapper
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from scheduling.algebra.verdicts import Kind, Listening, judge
from scheduling.algebra.windows import DayWindow, SegmentWindow
from tests.moments import utc

NOW = utc("2026-03-11T09:00")
A, B = AssetLeaf("a"), AssetLeaf("b")
SECONDS = "%Y-%m-%dT%H:%M:%S"
TWO = StaticPartitions(["tw", "jp"])
SAID = "waits for what is not to come: a is to have 2 listed keys, so not key us"


def never(definition, mapper, *keys, made=()):
    return Closed(definition, lambda key: key in made).never(mapper, keys)


def regions(policy):
    return RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]), policy)


def verdict(mapper, *received, definition=TWO, condition=A, key="all", now=NOW):
    listening = Listening(condition, dict.fromkeys(condition.leaves(), mapper))
    held = Held(
        key,
        NOW,
        NOW,
        received={A: dict.fromkeys(received, True)},
        closed={A: Closed(definition, lambda key: False)},
    )
    return listening, judge(listening, held, now)


class TestNever:
    def test_is_what_a_list_does_not_have_and_what_is_before_or_after_all_periods(self):
        assert never(TWO, IdentityMapper(), "tw", "us") == ("us",)
        days = DailyPartitions("2026-03-01", "2026-03-10")
        keys = ("2026-02-28", "2026-03-01", "2026-03-09", "2026-03-10", "2026-03-09T00")
        assert never(days, IdentityMapper(), *keys) == ("2026-02-28", "2026-03-10", "2026-03-09T00")

    def test_is_not_what_is_still_to_come(self):
        assert never(DailyPartitions("2026-03-01"), IdentityMapper(), "2999-01-01") == ()

    def test_is_what_is_left_out(self):
        weekdays = TimePartitions("day", utc("2026-03-01"), exclusions=("0 0 * * 6,0",))
        assert never(weekdays, IdentityMapper(), "2026-03-06", "2026-03-07") == ("2026-03-07",)

    def test_is_not_what_a_tick_makes_all_the_same(self):
        assert never(TWO, IdentityMapper(), "us", "eu", made=["us"]) == ("eu",)

    def test_is_told_of_each_dimension(self):
        both = MultiPartitions({"region": TWO, "day": DailyPartitions("2026-03-01")})
        keys = ("tw|2026-03-01", "us|2026-03-01", "tw|2026-02-01", "tw")
        assert never(both, IdentityMapper(), *keys) == keys[1:]

    def test_is_not_what_another_key_counts_as(self):
        """At 37 minutes past each hour: 09:37 is the hour 09, whose own name the asset never has."""
        past = TimePartitions("37 * * * *", utc("2026-03-10T09:00"), key_format=SECONDS)
        hours = ("2026-03-10T08:00:00", "2026-03-10T09:00:00", "2026-03-10T10:00:00")
        assert never(past, RollupMapper(StartOfHourMapper(), DayWindow()), *hours) == hours[:1]
        assert never(past, RollupMapper(StartOfDayMapper(), DayWindow()), *hours) == hours

    def test_is_not_what_is_written_with_another_offset(self):
        """A mapper of UTC asks for hours of UTC, which the asset has by the names of its own zone."""
        form = "%Y-%m-%dT%H:%M:%S%z"
        to_ten = HourlyPartitions(
            utc("2026-03-09"), utc("2026-03-10T22:00"), timezone="Europe/Berlin", key_format=form
        )
        mapper = RollupMapper(StartOfDayMapper(input_format=form), DayWindow())
        hours = mapper.required("2026-03-10")
        assert mapper.counts_as("2026-03-10T01:00:00+0100") == hours[0]
        assert never(to_ten, mapper, *hours) == hours[22:]

    def test_is_not_the_midnight_that_a_day_begins_without(self):
        """In Cairo, the day on which summer time begins starts at 01:00."""
        form = "%Y-%m-%dT%H"
        days = DailyPartitions("2026-03-05", "2026-05-04", timezone="Africa/Cairo", key_format=form)
        mapper = SlidingWindowMapper("day", before=1, timezone="Africa/Cairo", input_format=form)
        two = mapper.required("2026-04-24")
        assert mapper.counts_as("2026-04-24T01") == two[1] == "2026-04-24T00"
        assert never(days, mapper, *two) == ()

    def test_of_very_many_keys_the_first_and_the_last_are_asked_for(self, monkeypatch):
        monkeypatch.setattr(closing, "MOST_ASKED", 4)
        assert never(TWO, IdentityMapper(), *"abcdef") == ("a", "b", "e", "f")


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Havana", "Pacific/Apia", "Africa/Cairo"])
@pytest.mark.parametrize("make", [DailyPartitions, HourlyPartitions])
@pytest.mark.parametrize("form", ["", "%Y-%m-%dT%H:%M"])
def test_its_own_keys_and_no_others_are_akin_to_themselves(zone, make, form):
    """Around the changes of clocks, found fast or by the calendar."""
    for begin in ("2026-03-01", "2026-10-20", "2011-12-28"):
        named = make(utc(begin) - timedelta(days=9), utc(begin) + timedelta(days=20), key_format=form)
        asked = make(utc(begin), utc(begin) + timedelta(days=12), timezone=zone, key_format=form)
        for key in (*named.keys(), *asked.keys()):
            assert (key in asked.akin(key)) is asked.contains(key), key


class TestVerdict:
    def test_what_waits_for_such_a_key_alone_is_unreachable_and_names_it_and_the_definition(self):
        said = verdict(regions(WaitForAll()), "tw")[1]
        assert (said.kind, said.sentence) == (Kind.UNREACHABLE, SAID)

    def test_one_key_for_one_that_the_asset_is_not_to_have(self):
        said = verdict(IdentityMapper(), key="us")[1]
        assert (said.kind, said.sentence) == (Kind.UNREACHABLE, SAID)
        assert verdict(IdentityMapper(), key="tw")[1].kind is Kind.WAITING

    def test_where_any_key_will_do_it_names_one_that_the_asset_is_to_have(self):
        listening, said = verdict(FixedKeyMapper("all"))
        assert said.kind is Kind.WAITING
        assert [lack.keys for lack in lacks_of(listening, "all", said)] == [("tw",)]

    def test_where_any_key_will_do_it_names_it_as_the_asset_spells_it(self):
        days = DailyPartitions("2026-03-01", timezone="Europe/Berlin", key_format="%Y-%m-%dT%H%z")
        mapper = StartOfDayMapper(timezone="Europe/Berlin", input_format="%Y-%m-%dT%H%z")
        listening, said = verdict(mapper, definition=days, key="2026-03-10")
        assert [lack.keys for lack in lacks_of(listening, "2026-03-10", said)] == [("2026-03-10T00+0100",)]

    def test_where_any_key_will_do_and_the_asset_is_to_have_none_it_is_unreachable(self):
        hours = StaticPartitions(["2026-03-10T09:00:00", "2026-03-10T22:00:00", "other"])
        listening, said = verdict(StartOfDayMapper(), definition=hours, key="2026-03-11")
        assert (said.kind, said.sentence) == (
            Kind.UNREACHABLE,
            "waits for what is not to come: a is to have 3 listed keys, none of which maps here",
        )
        [lack] = lacks_of(listening, "2026-03-11", said)
        assert (lack.keys, lack.is_beyond) == (("2026-03-11T00:00:00",), True)
        assert set(lack.never) == {"2026-03-11T00:00:00"}
        assert verdict(StartOfDayMapper(), definition=hours, key="2026-03-10")[1].kind is Kind.WAITING

    def test_where_nobody_can_name_a_key_that_maps_here_it_is_no_key_that_never_comes(self):
        spread = FanOutMapper(AllowedKeyMapper(["us"]), SegmentWindow(["all"]), IdentityMapper())
        listening, said = verdict(spread)
        assert said.sentence.endswith("a is to have 2 listed keys, none of which maps here")
        [lack] = lacks_of(listening, "all", said)
        assert (lack.keys, lack.count, lack.is_beyond, set(lack.never)) == ((), 1, True, {""})

    def test_where_ticks_make_keys_as_well_nobody_knows_that_it_has_none(self):
        timed = Closed(TWO, lambda key: False, is_timed=True)
        assert timed.one_for(StartOfDayMapper(), "2026-03-11") is None
        assert timed.one_for(FixedKeyMapper("all"), "all") == "tw"

    def test_it_waits_while_enough_others_can_come_and_asks_for_those(self):
        listening, said = verdict(regions(MinimumCount(2)))
        assert (said.kind, said.sentence) == (
            Kind.WAITING,
            "waiting on 2 more of any; 0 of at least 2 have come; missing: keys tw–us",
        )
        [lack] = lacks_of(listening, "all", said)
        assert (lack.keys, lack.count, lack.spare) == (("tw", "jp"), 2, 0)
        only = verdict(regions(MinimumCount(2)), definition=StaticPartitions(["tw"]))[1]
        assert (only.kind, only.progress[0].never) == (Kind.UNREACHABLE, ("jp", "us"))

    def test_it_waits_for_a_deadline_that_will_not_need_the_key(self):
        assert verdict(regions(Deadline("6h", Fire)), "tw")[1].kind is Kind.WAITING
        assert verdict(regions(Deadline("6h", MinimumCount(2))), "tw")[1].kind is Kind.WAITING
        assert verdict(regions(Deadline("6h", MinimumCount(3))), "tw")[1].kind is Kind.UNREACHABLE
        assert verdict(regions(Deadline("6h", Cancel)), "tw")[1].kind is Kind.UNREACHABLE

    def test_it_waits_for_another_asset_that_is_enough(self):
        listening, said = verdict(regions(WaitForAll()), condition=Any((A, B)))
        assert said.kind is Kind.WAITING
        assert [lack.is_beyond for lack in lacks_of(listening, "all", said)] == [True, False]

    def test_what_came_all_the_same_counts(self):
        assert verdict(regions(WaitForAll()), "tw", "jp", "us")[1].kind is Kind.READY
