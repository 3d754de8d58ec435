"""A change of the schedule while a later round is open: what is fresh, settles and is carried on."""

import pytest

from core.models import HeldRun
from tests.engine import world
from tests.engine.refiled import SIX_HOURS, held
from tests.engine.world import NOW
from tests.sdk.writing import LATER

pytestmark = pytest.mark.django_db


class TestLaterRounds:
    def test_keep_what_is_fresh_and_what_is_carried(self, listen):
        """After a first firing one late key is fresh; a change of the policy must not make the others so."""
        rollup = 'RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]){})'
        listen(rollup.format(""), at=NOW)
        world.emit("a", "tw", "jp", "us")
        world.turn()
        world.emit("a", "tw", at=NOW + world.MINUTE)
        world.turn(NOW + world.MINUTE)
        row = world.held("c", "all")
        assert row.round == 2
        before = set(row.received.values_list("key", "is_fresh"))
        listen(rollup.format(", wait_policy=MinimumCount(-1)"), at=NOW + 2 * world.MINUTE)
        row.refresh_from_db()
        assert set(row.received.values_list("key", "is_fresh")) == before
        assert row.verdict == "settling"

    def test_settle_no_longer_for_a_change(self, listen):
        """A change is no event: the ten minutes count from the late key."""
        rollup = 'RollupMapper(FixedKeyMapper("all"), SegmentWindow(["tw", "jp", "us"]){})'
        listen(rollup.format(""), at=NOW)
        world.emit("a", "tw", "jp", "us")
        world.turn()
        late = NOW + world.MINUTE
        world.emit("a", "tw", at=late)
        world.turn(late)
        listen(rollup.format(", wait_policy=MinimumCount(-1)"), at=NOW + 9 * world.MINUTE)
        row = world.held("c", "all")
        assert (row.last_event_at, row.judge_after) == (late, late + 10 * world.MINUTE)

    def test_settle_from_the_last_key_that_moved_to_them(self, listen):
        listen("StartOfDayMapper()", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", SIX_HOURS[0])
        world.turn()
        world.emit("a", SIX_HOURS[0], at=NOW + world.MINUTE)
        world.turn(NOW + world.MINUTE)
        listen("StartOfMonthMapper()", assets='Asset("a") & Asset("b")', at=NOW + 5 * world.MINUTE)
        assert world.held("c", "2026-03").last_event_at == NOW + world.MINUTE


class TestLateRounds:
    def test_what_only_marks_late_keys_now_waits_no_more(self, listen):
        listen("IdentityMapper(), settle='1h'", assets='Asset("a") & Asset("b")', at=NOW)
        world.emit("a", "k")
        world.emit("b", "k")
        world.turn()
        world.emit("a", "k", at=LATER)
        world.turn(LATER)
        assert held() == {"k": ["k", "k"]}
        listen("IdentityMapper(), late='mark_stale'", assets='Asset("a") & Asset("b")')
        assert held() == {}
        assert HeldRun.objects.get(round=2).state == "superseded"
