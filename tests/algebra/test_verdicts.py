from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from scheduling.algebra.conditions import AssetLeaf
from scheduling.algebra.mappers import FixedKeyMapper, IdentityMapper
from scheduling.algebra.policies import Cancel, Deadline, Fire, MinimumCount, WaitForAll
from scheduling.algebra.progress import Held
from scheduling.algebra.rollups import RollupMapper
from scheduling.algebra.temporal import StartOfDayMapper
from scheduling.algebra.verdicts import Kind, Late, Listening, judge
from scheduling.algebra.windows import DayWindow, SegmentWindow

NOW = datetime(2026, 3, 11, 9, 0, tzinfo=UTC)
A, B = AssetLeaf("a"), AssetLeaf("b")


def regions(policy=None):
    return RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]), policy or WaitForAll())


def listening(condition=A, late=Late.SETTLE, **mappers):
    leaves = {leaf: mappers.get(leaf.name, IdentityMapper()) for leaf in condition.leaves()}
    return Listening(condition, leaves, late)


def held(key="all", **fields):
    return Held(key=key, **({"opened_at": NOW, "last_event_at": NOW} | fields))


def fresh(*keys):
    return dict.fromkeys(keys, True)


def stale(*keys):
    return dict.fromkeys(keys, False)


class TestFirstRound:
    def test_a_rollup_waits_and_says_for_what(self):
        verdict = judge(listening(a=regions()), held(received={A: fresh("tw")}), NOW)
        assert verdict.kind is Kind.WAITING
        assert verdict.sentence == "waiting on 2 of 3: keys jp, us"
        assert (verdict.received_count, verdict.required_count) == (1, 3)

    def test_it_is_ready_with_the_last_key(self):
        assert judge(listening(a=regions()), held(received={A: fresh("us", "jp", "tw")}), NOW).may_fire

    def test_a_policy_decides_how_many_are_enough(self):
        two = listening(a=regions(MinimumCount(2)))
        assert not judge(two, held(received={A: fresh("tw")}), NOW).may_fire
        assert judge(two, held(received={A: fresh("tw", "us")}), NOW).may_fire

    def test_it_says_how_many_more_are_enough(self):
        verdict = judge(listening(a=regions(MinimumCount(2))), held(received={A: fresh("tw")}), NOW)
        assert verdict.sentence == "waiting on 1 more of any; 1 of at least 2 has come; missing: keys jp, us"

    def test_keys_outside_the_window_never_count(self):
        verdict = judge(listening(a=regions(MinimumCount(2))), held(received={A: fresh("tw", "x", "y")}), NOW)
        assert verdict.kind is Kind.WAITING
        assert verdict.progress[0].unexpected == ("x", "y")

    def test_each_asset_that_lacks_something_is_named(self):
        verdict = judge(listening(A & B, a=regions()), held(received={A: fresh("tw", "jp")}), NOW)
        assert verdict.sentence == "waiting on a (1 of 3: key us); b (any key that maps here)"

    def test_an_alternative_that_has_come_is_enough(self):
        assert judge(listening(A | B, a=regions()), held(received={B: fresh("all")}), NOW).may_fire


class TestNever:
    SHORT_DAY = held("2026-03-08")
    ALL_24 = RollupMapper(StartOfDayMapper("America/New_York"), DayWindow(), MinimumCount(24))

    def test_more_than_there_are_that_day_is_unreachable(self):
        verdict = judge(listening(a=self.ALL_24), self.SHORT_DAY, NOW)
        assert verdict.kind is Kind.UNREACHABLE
        assert verdict.sentence == "can never fire: needs 24 of only 23 hours"

    def test_not_if_an_alternative_can_still_come(self):
        assert judge(listening(A | B, a=self.ALL_24), self.SHORT_DAY, NOW).kind is Kind.WAITING

    def test_a_key_that_its_mapper_cannot_read_is_broken(self):
        daily = RollupMapper(StartOfDayMapper(), DayWindow())
        verdict = judge(listening(a=daily), held(key="not a day"), NOW)
        assert verdict.kind is Kind.BROKEN
        assert "not a day" in verdict.sentence


class TestDeadlines:
    OPENED = NOW - timedelta(hours=6)

    def verdict(self, then, at=NOW, received=("tw",)):
        patient = listening(a=regions(Deadline("6h", then)))
        return judge(patient, held(opened_at=self.OPENED, received={A: fresh(*received)}), at)

    @pytest.mark.parametrize(
        ("then", "received", "ends"),
        [
            (Fire, ("tw",), "fires"),
            (MinimumCount(2), ("tw", "jp"), "fires"),
            (MinimumCount(2), ("tw",), ""),
            (Cancel, ("tw",), "is cancelled"),
        ],
    )
    def test_before_it_says_what_it_then_does_by_itself(self, then, received, ends):
        patient = listening(a=regions(Deadline("6h", then)))
        waiting = held(received={A: fresh(*received)})
        assert judge(patient, waiting, NOW).then == ends
        assert judge(patient, replace(waiting, paused=True), NOW).then == ends.replace("fires", "")

    def test_one_that_another_asset_outlasts_ends_nothing(self):
        both = listening(A & B, a=regions(Deadline("6h", Fire)))
        assert judge(both, held(received={A: fresh("tw")}), NOW).then == ""

    def test_before_it_everything_is_waited_for_and_the_deadline_is_when_to_look_again(self):
        verdict = self.verdict(Fire, at=NOW - timedelta(minutes=1), received=("tw", "us"))
        assert (verdict.kind, verdict.until) == (Kind.WAITING, NOW)

    def test_fire_takes_what_has_come(self):
        verdict = self.verdict(Fire)
        assert verdict.may_fire
        assert verdict.progress[0].missing == ("jp", "us")

    @pytest.mark.parametrize(("received", "fires"), [(("tw",), False), (("tw", "us"), True)])
    def test_a_lower_count_is_waited_for_from_then_on(self, received, fires):
        verdict = self.verdict(MinimumCount(2), received=received)
        assert (verdict.may_fire, verdict.until, verdict.gives_up) == (fires, None, False)

    def test_cancel_gives_up_unless_all_have_come(self):
        verdict = self.verdict(Cancel)
        assert (verdict.may_fire, verdict.gives_up) == (False, True)
        assert verdict.sentence == "its deadline for a has passed: all, or after 6 hours: cancel"
        assert self.verdict(Cancel, received=("tw", "us", "jp")).may_fire

    def test_cancel_does_not_give_up_what_has_come(self):
        """`a` is complete; that `b` is not is no reason of its deadline's."""
        both = listening(A & B, a=regions(Deadline("6h", Cancel)))
        verdict = judge(both, held(opened_at=self.OPENED, received={A: fresh("tw", "jp", "us")}), NOW)
        assert (verdict.kind, verdict.gives_up) == (Kind.WAITING, False)

    def test_nor_while_an_alternative_may_still_come(self):
        either = listening(A | B, a=regions(Deadline("6h", Cancel)))
        verdict = judge(either, held(opened_at=self.OPENED, received={A: fresh("tw")}), NOW)
        assert (verdict.kind, verdict.gives_up) == (Kind.WAITING, False)


class TestAnAssetWithoutPartitions:
    def test_it_is_there_for_every_key(self):
        both = listening(A & B, a=regions())
        assert judge(both, held(received={A: fresh("tw", "jp", "us")}, present={B}), NOW).may_fire
        waiting = judge(both, held(received={A: fresh("tw")}, present={B}), NOW)
        assert waiting.sentence == "waiting on a (2 of 3: keys jp, us)"
        assert (waiting.received_count, waiting.required_count) == (1, 3)

    def test_it_settles_nothing_late(self):
        late = held(is_late=True, received={A: fresh("k")}, present={B})
        assert judge(listening(A & B), late, NOW).may_fire


class TestPaused:
    def test_complete_but_paused_says_so(self):
        verdict = judge(listening(), held(received={A: fresh("all")}, paused=True), NOW)
        assert (verdict.kind, verdict.may_fire) == (Kind.PAUSED, False)

    def test_waiting_and_paused_is_waiting(self):
        assert judge(listening(), held(paused=True), NOW).kind is Kind.WAITING


class TestLaterRounds:
    ALL = {A: stale("tw", "jp") | fresh("us")}

    def late(self, policy, received=None, at=NOW):
        return judge(
            listening(late=policy, a=regions()), held(is_late=True, received=received or self.ALL), at
        )

    def test_it_settles_for_ten_minutes(self):
        verdict = self.late(Late.SETTLE)
        assert (verdict.kind, verdict.until) == (Kind.SETTLING, NOW + timedelta(minutes=10))
        assert self.late(Late.SETTLE, at=NOW + timedelta(minutes=10)).may_fire

    def test_what_it_says_while_it_settles_names_both_ends(self):
        end = f"{NOW + timedelta(minutes=10):%Y-%m-%d %H:%M:%S} UTC"
        assert self.late(Late.SETTLE).sentence == (
            f"settling: 1 of 3 came anew; fires when all have, or at {end} if nothing more comes"
        )

    @pytest.mark.parametrize(
        ("condition", "policy", "words"),
        [(A, MinimumCount(2), "fires when 2 have"), (A & B, None, "fires when enough have")],
        ids=["a policy", "several assets"],
    )
    def test_it_says_how_many_have_to_come_anew(self, condition, policy, words):
        late = held(is_late=True, received={B: stale("all")} | self.ALL)
        verdict = judge(listening(condition, a=regions(policy)), late, NOW)
        assert verdict.kind is Kind.SETTLING
        assert words in verdict.sentence

    def test_it_does_not_wait_when_everything_came_anew(self):
        assert self.late(Late.SETTLE, {A: fresh("tw", "jp", "us")}).may_fire

    @pytest.mark.parametrize(
        ("policy", "fires"), [(Late.IMMEDIATE, True), (Late.HOLD, False), (Late.RESTART, False)]
    )
    def test_other_policies(self, policy, fires):
        assert self.late(policy, at=NOW + timedelta(days=1)).may_fire is fires

    @pytest.mark.parametrize(
        ("late", "named"),
        [((), ""), (("us",), ": us"), (tuple("abcdef"), ": a, b, c, d, e and 1 more")],
    )
    def test_hold_names_the_keys_that_a_person_is_to_approve(self, late, named):
        verdict = self.late(Late.HOLD, {A: stale("tw", "jp", "us") | fresh(*late)})
        assert verdict.sentence == f"waiting for a person: late keys need approval{named}"

    def test_restart_counts_this_round_only(self):
        assert self.late(Late.RESTART, {A: fresh("tw", "jp", "us")}).may_fire
        waiting = self.late(Late.RESTART, {A: stale("jp", "us") | fresh("tw")})
        assert (waiting.kind, waiting.sentence) == (Kind.WAITING, "waiting on 2 of 3: keys jp, us")

    def test_a_late_key_of_a_partition_that_is_only_marked_fires_nothing(self):
        verdict = self.late(Late.MARK_STALE, {A: fresh("tw", "jp", "us")}, NOW + timedelta(days=1))
        assert verdict.kind is Kind.WAITING

    @pytest.mark.parametrize("policy", [Late.HOLD, Late.MARK_STALE])
    def test_where_one_key_is_enough_a_person_or_nobody_decides_if_it_says_so(self, policy):
        late = held(is_late=True, received={A: fresh("all")})
        assert not judge(listening(late=policy), late, NOW + timedelta(days=1)).may_fire

    def test_where_one_key_is_enough_it_fires_at_once(self):
        assert judge(listening(A | B), held(is_late=True, received={A: fresh("all")}), NOW).may_fire

    def test_two_that_must_meet_settle(self):
        received = {A: fresh("all"), B: stale("all")}
        assert judge(listening(A & B), held(is_late=True, received=received), NOW).kind is Kind.SETTLING
