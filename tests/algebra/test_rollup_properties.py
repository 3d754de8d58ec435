"""Rollups of any kind: both directions agree, and a day that is held ends."""

from datetime import UTC, datetime, timedelta

from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from scheduling.algebra.errors import InvalidKey
from scheduling.algebra.periods import zone
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import (
    StartOfDayMapper,
    StartOfHourMapper,
    StartOfMinuteMapper,
    StartOfMonthMapper,
    StartOfQuarterMapper,
    StartOfWeekMapper,
)
from scheduling.algebra.windows import (
    DayWindow,
    HourWindow,
    MonthWindow,
    QuarterWindow,
    WeekWindow,
    YearWindow,
)
from tests.algebra.zones import ZONES

OFFSET = "%Y-%m-%dT%H:%M:%S%z"
FORWARD = [
    (StartOfHourMapper, HourWindow, {}),
    (StartOfDayMapper, DayWindow, {}),
    (StartOfHourMapper, DayWindow, {}),
    (StartOfMinuteMapper, DayWindow, {"members": "minute"}),
    (StartOfWeekMapper, WeekWindow, {}),
    (StartOfMonthMapper, MonthWindow, {}),
    (StartOfDayMapper, MonthWindow, {}),
    (StartOfQuarterMapper, QuarterWindow, {"members": "month"}),
    (StartOfMonthMapper, YearWindow, {"members": "month"}),
]


@st.composite
def rollups(draw):
    upstream, window, members = draw(st.sampled_from(FORWARD))
    direction = draw(st.sampled_from(["forward", "backward", "following"]))
    form = draw(st.sampled_from(["%Y-%m-%dT%H:%M:%S", OFFSET, "%Y%m%d%H%M"]))
    return RollupMapper(upstream(draw(st.sampled_from(ZONES)), form), window(direction=direction, **members))


# Half of the moments lie within two days of a change of clocks somewhere.
CHANGES = [
    datetime(2026, 3, 8, 7),
    datetime(2026, 11, 1, 6),
    datetime(2026, 3, 29, 1),
    datetime(2026, 10, 25, 1),
    datetime(2026, 4, 4, 15),
    datetime(2026, 10, 3, 15),
    datetime(2026, 9, 6, 4),
]
MOMENTS = st.one_of(
    st.datetimes(datetime(2020, 1, 1), datetime(2030, 1, 1)),
    st.builds(
        lambda change, minutes: change + timedelta(minutes=minutes),
        st.sampled_from(CHANGES),
        st.integers(-2880, 2880),
    ),
).map(lambda moment: moment.replace(microsecond=0, tzinfo=UTC))


class TestBothDirections:
    """`u in required(d)` if and only if `d in to_downstream(u)`, where `u` counts as a member."""

    @given(rollups(), MOMENTS)
    def test_a_key_that_maps_and_counts_is_required(self, mapper, moment):
        key = mapper.plan.input.format(moment, mapper.plan.zone)
        for downstream_key in mapper.to_downstream(key):
            counted = mapper.counts_as(key)
            assert (counted in mapper.required(downstream_key)) or mapper.plan.members is None
            if mapper.plan.members is None and counted not in mapper.required(downstream_key):
                assert all(
                    counted not in mapper.required(other) for other in self.neighbours(mapper, downstream_key)
                )

    @given(rollups(), MOMENTS)
    def test_a_required_key_maps_to_what_requires_it(self, mapper, moment):
        downstream_key = mapper.plan.keys.output.format(moment, mapper.plan.zone)
        try:
            required = mapper.required(downstream_key)
        except InvalidKey:
            assume(False)
        assert required
        for key in {required[0], required[-1], required[len(required) // 2]}:
            assert downstream_key in mapper.to_downstream(key), key
            assert mapper.counts_as(key) == key

    def neighbours(self, mapper, downstream_key):
        date = mapper.partition_date(downstream_key)
        keys = {
            mapper.plan.keys.output.format(date + timedelta(days=days), mapper.plan.zone)
            for days in (-40, -8, -1, 1, 8, 40)
        }
        for key in keys - {downstream_key}:
            try:
                mapper.required(key)
            except InvalidKey:
                continue
            yield key


class HeldDay(RuleBasedStateMachine):
    """A day of hours under some policy, told of keys in any order, against a plain set."""

    keys = Bundle("keys")

    @initialize(
        n=st.one_of(st.none(), st.integers(-30, 23).filter(bool)),
        day=st.sampled_from(["2026-03-08", "2026-06-01", "2026-11-01"]),
    )
    def open(self, n, day):
        policy = WaitForAll() if n is None else MinimumCount(n)
        self.mapper = RollupMapper(StartOfDayMapper("America/New_York", OFFSET), DayWindow(), policy)
        self.required = self.mapper.required(day)
        self.day, self.n = day, n
        self.arrived = set()

    @rule(hour=st.integers(0, 30), spelling=st.sampled_from(["-0500", "+0000", "Z"]))
    def arrive(self, hour, spelling):
        instant = datetime.fromisoformat(f"{self.day}T03:00:00+00:00") + timedelta(hours=hour)
        shown = instant.astimezone(zone("EST")) if spelling == "-0500" else instant
        key = f"{shown:%Y-%m-%dT%H:%M:%S}{spelling}"
        if self.day in self.mapper.to_downstream(key):
            self.arrived.add(self.mapper.counts_as(key))

    @rule()
    def arrive_again(self):
        self.arrived |= set(list(self.arrived)[:1])

    @rule(minute=st.integers(1, 59))
    def arrive_beside_the_hour(self, minute):
        key = f"{self.day}T12:{minute:02}:00-0500"
        assert self.mapper.to_downstream(key) == (self.day,)
        assert self.mapper.counts_as(key) not in self.required

    @invariant()
    def fires_exactly_when_enough_real_hours_are_there(self):
        received = len(self.arrived & set(self.required))
        assert received == len(self.arrived)
        hours = {"2026-03-08": 23, "2026-06-01": 24, "2026-11-01": 25}[self.day]
        needed = hours if self.n is None else self.n if self.n > 0 else max(0, hours + self.n)
        assert self.mapper.wait_policy.satisfied(received, len(self.required)) == (received >= needed)


TestHeldDay = HeldDay.TestCase
