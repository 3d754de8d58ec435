"""What a held run lacks: the fewest keys that let it fire, and when a missing key makes it overdue."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduling.algebra.conditions import All, Any, AssetLeaf
from scheduling.algebra.lacking import Lack, fewest, lacks_of, overdue_at
from scheduling.algebra.mappers import FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import MinimumCount, WaitForAll
from scheduling.algebra.progress import Held
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.verdicts import Kind, Late, Listening, judge
from scheduling.algebra.windows import DayWindow, SegmentWindow

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
A, B, C, D = (AssetLeaf(name) for name in "abcd")
HOUR = timedelta(hours=1)
DAY = "2026-03-10"


def hours(*numbers):
    return tuple(f"{DAY}T{number:02}:00:00" for number in numbers)


def of_hours(policy=None):
    return RollupMapper(StartOfDayMapper(), DayWindow(), policy or WaitForAll())


def of_regions(policy=None):
    return RollupMapper(FixedKeyMapper(DAY), SegmentWindow(["tw", "jp", "us"]), policy or WaitForAll())


def listening(condition, mappers, **options):
    return Listening(
        condition, {leaf: mappers.get(leaf, IdentityMapper()) for leaf in condition.leaves()}, **options
    )


def held(received=None, **options):
    came = {leaf: dict.fromkeys(keys, True) for leaf, keys in (received or {}).items()}
    return Held(DAY, NOW, NOW, received=came, **options)


def lacks(how, waiting):
    return lacks_of(how, DAY, judge(how, waiting, NOW), is_late=waiting.is_late)


class TestLacks:
    def test_names_the_keys_that_are_missing_and_how_many_must_come(self):
        how = listening(A, {A: of_hours(MinimumCount(22))})
        [lack] = lacks(how, held({A: hours(*range(20))}))
        assert (lack.keys, lack.count, lack.spare) == (hours(20, 21, 22, 23), 2, 2)

    def test_one_key_that_maps_is_enough_where_none_is_required(self):
        [lack] = lacks(listening(A & B, {}), held({A: [DAY]}))
        assert lack == Lack(B, (DAY,), 1)

    def test_what_is_there_lacks_nothing(self):
        assert lacks(listening(A, {}), held({A: [DAY]})) == ()

    def test_names_one_of_many_where_they_cannot_be_counted_up(self):
        [lack] = lacks(listening(A & B, {A: StartOfDayMapper()}), held({B: [DAY]}))
        assert lack.keys == (f"{DAY}T00:00:00",)

    def test_names_none_where_nobody_can(self):
        fixed = listening(A & B, {A: StartOfDayMapper(input_format="%Y-%m-%dT%H:%M:%S%z")})
        [lack] = lacks(fixed, held({B: [DAY]}))
        assert lack.problem == ""
        assert len(lack.keys) <= 1

    def test_a_key_that_never_comes_about_is_a_problem(self):
        how = listening(A, {A: FixedKeyMapper("all")})
        [lack] = lacks(how, held())
        assert "never comes about" in lack.problem

    def test_too_few_keys_for_the_policy_are_a_problem(self):
        short = "2026-03-08"  # a day of 23 hours
        new_york = StartOfDayMapper(timezone="America/New_York")
        how = listening(A, {A: RollupMapper(new_york, DayWindow(), MinimumCount(24))})
        [lack] = lacks_of(how, short, judge(how, Held(short, NOW, NOW, received={A: {}}), NOW))
        assert lack.problem == "needs 24 of only 23 hours"

    def test_where_all_must_come_anew_what_was_consumed_lacks(self):
        how = listening(A, {A: of_regions()}, late=Late.RESTART)
        waiting = Held(DAY, NOW, NOW, is_late=True, received={A: {"tw": True, "jp": False, "us": False}})
        [lack] = lacks(how, waiting)
        assert (lack.keys, lack.count) == (("jp", "us"), 2)

    def test_a_mapper_that_fails_where_nobody_asked_it_before_is_a_problem(self):
        class Failing(IdentityMapper):
            def upstream_keys(self, key):
                raise ZeroDivisionError("no upstream")

        how = listening(A & B, {B: Failing()})
        assert lacks(how, held({A: [DAY]})) == (Lack(B, (), problem="no upstream"),)


class TestFewest:
    @pytest.mark.parametrize(
        ("condition", "chosen"),
        [
            (A & B & C, [A, B, C]),
            (A | B | C, [A]),
            ((A & B) | C, [C]),
            ((A | B) & (A | C), [A]),
            ((A & B) | (C & D), [A, B]),
        ],
    )
    def test_takes_as_few_as_can_be(self, condition, chosen):
        lacking = [Lack(leaf, ("k",)) for leaf in condition.leaves()]
        assert [lack.leaf for lack in fewest(condition, lacking)] == chosen

    def test_prefers_the_side_that_needs_fewer_keys(self):
        lacking = [Lack(A, ("1", "2", "3"), 3), Lack(B, ("k",))]
        assert [lack.leaf for lack in fewest(A | B, lacking)] == [B]

    def test_what_is_there_costs_nothing(self):
        assert [lack.leaf for lack in fewest((A & B) | C, [Lack(B, ("1", "2"), 1), Lack(C, ("k",))])] == [B]

    def test_goes_around_what_cannot_come(self):
        lacking = [Lack(A, (), problem="never"), Lack(B, ("1", "2"), 2)]
        assert [lack.leaf for lack in fewest(A | B, lacking)] == [B]

    def test_is_none_where_nothing_that_comes_will_do(self):
        assert fewest(A & B, [Lack(A, (), problem="never"), Lack(B, ("k",))]) is None

    @given(data=st.data())
    def test_none_of_those_chosen_could_stay_away(self, data):
        leaves = st.sampled_from([A, B, C, D])
        several = st.recursive(
            leaves,
            lambda part: st.builds(
                lambda kind, parts: kind(tuple(parts)),
                st.sampled_from([All, Any]),
                st.lists(part, min_size=1, max_size=3),
            ),
            max_leaves=8,
        )
        condition = data.draw(several)
        absent = data.draw(st.sets(leaves))
        lacking = [
            Lack(
                leaf,
                tuple("12345"),
                data.draw(st.integers(1, 5)),
                data.draw(st.sampled_from(["", "", "never"])),
            )
            for leaf in condition.leaves()
            if leaf in absent
        ]
        found = fewest(condition, lacking)
        able = {lack.leaf for lack in lacking if not lack.problem}
        there = set(condition.leaves()) - absent
        if found is None:
            assert not condition.holds(lambda leaf: leaf in there | able)
            return
        chosen = {lack.leaf for lack in found}
        assert chosen <= able
        assert condition.holds(lambda leaf: leaf in there | chosen)
        for one in chosen:
            assert not condition.holds(lambda leaf, rest=there | chosen - {one}: leaf in rest)


class TestOverdue:
    def at(self, hour):
        return datetime(2026, 3, 10, hour, 5, tzinfo=UTC)

    def due(self, how, waiting, times):
        verdict = judge(how, waiting, NOW)
        found = lacks_of(how, DAY, verdict)
        return overdue_at(how, verdict, found, lambda leaf, key: times.get(key, times.get(leaf)))

    def by_hour(self, *known):
        return {key: self.at(int(key[11:13])) for key in hours(*(known or range(24)))}

    def test_the_first_missing_key_decides_where_all_are_needed(self):
        how = listening(A, {A: of_hours()}, late_after=HOUR)
        missing = held({A: hours(*(n for n in range(24) if n not in (9, 22)))})
        assert self.due(how, missing, self.by_hour()) == self.at(9) + HOUR

    def test_keys_that_may_stay_away_may_be_late(self):
        how = listening(A, {A: of_hours(MinimumCount(-1))}, late_after=HOUR)
        missing = held({A: hours(*(n for n in range(24) if n not in (9, 11, 22)))})
        assert self.due(how, missing, self.by_hour()) == self.at(11) + HOUR

    def test_an_alternative_that_may_still_come_in_time_is_waited_for(self):
        how = listening(A | B, {}, late_after=HOUR)
        assert self.due(how, held(), {A: self.at(9), B: self.at(12)}) == self.at(12) + HOUR

    def test_every_asset_is_needed_so_the_first_that_is_late_decides(self):
        how = listening(A & B, {}, late_after=HOUR)
        assert self.due(how, held(), {A: self.at(12), B: self.at(9)}) == self.at(9) + HOUR

    def test_is_not_known_while_a_key_that_would_do_is_expected_at_no_time(self):
        assert self.due(listening(A | B, {}, late_after=HOUR), held(), {A: self.at(9)}) is None
        how = listening(A, {A: of_hours(MinimumCount(1))}, late_after=HOUR)
        assert self.due(how, held(), self.by_hour(1, 2, 3)) is None

    def test_a_key_without_a_time_hides_no_other(self):
        how = listening(A, {A: of_hours()}, late_after=HOUR)
        assert self.due(how, held(), self.by_hour(7)) == self.at(7) + HOUR

    def test_is_never_late_beyond_all_time(self):
        how = listening(A, {}, late_after=timedelta(days=4_000_000))
        assert self.due(how, held(), {A: self.at(9)}) is None

    def test_a_dag_that_does_not_say_late_after_is_never_late(self):
        assert self.due(listening(A, {}), held(), {A: self.at(9)}) is None

    def test_no_time_at_all_is_one_too(self):
        how = listening(A & B, {}, late_after=timedelta(0))
        assert self.due(how, held({B: [DAY]}), {A: self.at(9)}) == self.at(9)

    def test_what_waits_for_anything_but_keys_is_not_late(self):
        how = listening(A & B, {}, late_after=HOUR, late=Late.HOLD)
        waiting = held({A: [DAY], B: [DAY]}, is_late=True)
        assert judge(how, waiting, NOW).kind is Kind.WAITING
        assert self.due(how, waiting, {A: self.at(9)}) is None
