"""What is wiped or deleted counts no more in held runs; what has fired stays fired."""

import pytest

from core.models import AssetEvent, ConsumedEvent, DagRun, HeldRun, JournalEntry, MappingProblem, ReceivedKey
from scheduling import holds, wiping
from scheduling.wiping import EventConsumed, NeverSeen
from tests.engine.world import (
    ALICE,
    HOURS_TO_DAY,
    IDENTITY,
    MINUTE,
    NOW,
    REGIONS,
    asset,
    consumer,
    dag,
    emit,
    fired,
    held,
    hours,
    part,
    turn,
)

pytestmark = pytest.mark.django_db
DAY = "2026-03-10"


def wipe(name, *keys, at=NOW):
    return wiping.wipe(asset(name), keys, deed=ALICE, at=at)


def delete(registered, at=NOW):
    wiping.delete_event(registered.event, deed=ALICE, at=at)


class TestWipe:
    def test_the_partition_has_no_data_and_its_events_stay(self):
        emit("a", "k")
        assert wipe("a", "k") == ["k"]
        row = part("a", "k")
        assert (row.state, row.data_at, row.last_event, row.attempt) == ("missing", None, None, "")
        assert AssetEvent.objects.count() == 1

    def test_one_that_has_no_data_stays_as_it_was(self):
        emit("a", "k", "l")
        wipe("a", "k")
        assert wipe("a", "k", "l") == ["l"]

    def test_of_a_key_that_nobody_has_seen_is_refused_and_wipes_none(self):
        emit("a", "k")
        with pytest.raises(NeverSeen, match="nothing is known of partition 'never' of a"):
            wipe("a", "k", "never")
        assert part("a", "k").data_at

    def test_it_is_received_no_more(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp")
        turn()
        wipe("regional", "jp")
        turn()
        row = held("all", "all")
        assert (row.received_count, row.sentence) == (1, "waiting on 2 of 3: keys jp, us")
        assert row.consumed.count() == 1
        emit("regional", "us")
        turn()
        assert fired("all") == []
        emit("regional", "jp")
        turn()
        assert fired("all") == ["all"]

    def test_nor_counted_by_who_is_opened_afterwards(self):
        emit("hourly", *hours(DAY, *range(23)))
        wipe("hourly", *hours(DAY, 3))
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, 23))
        turn()
        assert held("daily", DAY).sentence == "waiting on 1 of 24: hour 03"

    def test_what_was_said_of_it_and_not_mapped_yet_is_void(self):
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        wipe("a", "k")
        turn()
        assert fired("copy") == []

    def test_what_fired_stays_fired(self):
        consumer("copy", {"a": IDENTITY})
        emit("a", "k")
        turn()
        wipe("a", "k")
        turn()
        assert HeldRun.objects.get().consumed.count() == 1
        assert fired("copy") == ["k"]

    def test_a_problem_with_what_it_was_is_none_any_more(self):
        consumer("daily", {"hourly": HOURS_TO_DAY})
        emit("hourly", "nonsense")
        turn()
        wipe("hourly", "nonsense")
        assert not MappingProblem.objects.exists()

    def test_the_journal_names_who_and_which(self):
        emit("a", "k")
        wipe("a", "k")
        entry = JournalEntry.objects.get(event="partition wiped")
        assert (entry.by, entry.asset_name, entry.partition_key) == ("alice", "a", "k")

    def test_what_was_wiped_while_it_was_counted_does_not_fire(self):
        """Counting does not lock partitions: a wipe may not see a held run that is opened at that moment."""
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        holds.route_pending(now=NOW, at_once=0)
        asset("regional").partition_set.filter(key="jp").update(data_at=None, last_event=None)
        turn()
        assert fired("all") == []
        assert held("all", "all").sentence == "waiting on 1 of 3: key jp"
        assert set(ReceivedKey.objects.values_list("key", flat=True)) == {"tw", "us"}

    def test_nor_does_it_where_the_last_of_its_keys_is_counted(self):
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp")
        turn()
        asset("regional").partition_set.filter(key="jp").update(data_at=None, last_event=None)
        emit("regional", "us")
        turn()
        assert fired("all") == []
        assert held("all", "all").sentence == "waiting on 1 of 3: key jp"


class TestDeleteAnEvent:
    def test_without_it_the_partition_has_no_data(self):
        [registered] = emit("a", "k")
        delete(registered)
        assert (part("a", "k").state, AssetEvent.objects.count()) == ("missing", 0)

    def test_it_is_received_no_more(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        [registered] = emit("a", "k")
        turn()
        delete(registered)
        turn()
        assert held("joined", "k").received_count == 0
        emit("b", "k")
        turn()
        assert fired("joined") == []

    def test_the_partition_is_as_the_event_before_left_it(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        [first] = emit("a", "k")
        [second] = emit("a", "k", at=NOW + MINUTE)
        turn(NOW + MINUTE)
        delete(second)
        row = part("a", "k")
        assert (row.data_at, row.last_event, row.state) == (NOW, first.event, "materialized")
        assert [each.event for each in held("joined", "k").consumed.all()] == [first.event]

    def test_what_is_left_may_be_what_has_fired_before(self):
        """The correction is taken back: the round settles with what the one before had, and is not fresh."""
        consumer("all", {"regional": REGIONS})
        emit("regional", "tw", "jp", "us")
        turn()
        again = emit("regional", "tw", "jp", at=NOW + MINUTE)
        turn(NOW + MINUTE)
        delete(again[0], at=NOW + 2 * MINUTE)
        received = held("all", "all").received.values_list("key", "is_fresh")
        assert set(received) == {("tw", False), ("jp", True), ("us", False)}

    def test_an_older_one_changes_nothing_but_the_record(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        [first] = emit("a", "k")
        emit("a", "k", at=NOW + MINUTE)
        turn(NOW + MINUTE)
        delete(first)
        assert part("a", "k").data_at == NOW + MINUTE
        assert held("joined", "k").received.count() == 1

    def test_one_that_a_run_has_consumed_stays(self):
        consumer("copy", {"a": IDENTITY})
        [registered] = emit("a", "k")
        turn()
        with pytest.raises(EventConsumed, match=DagRun.objects.get().run_id.split("__")[0]):
            delete(registered)
        assert ConsumedEvent.objects.count() == 1

    def test_one_that_a_cancelled_held_run_had_counted_goes(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        [registered] = emit("a", "k")
        turn()
        holds.cancel(held("joined", "k"), deed=ALICE, at=NOW)
        delete(registered)
        assert not AssetEvent.objects.exists()

    def test_one_without_a_key_counts_no_more_for_a_plain_dag(self):
        made = dag("plain", {"type": "AssetTimetable", "assets": {"all": [{"asset": "a"}, {"asset": "b"}]}})
        for name in ("a", "b"):
            made.dependencies.create(asset=asset(name), leaf={"asset": name}, created_at=NOW)
        [first], [second] = emit("a", None), emit("a", None)
        turn()
        delete(first)
        turn()
        assert held("plain", "").received_count == 1
        delete(second)
        turn()
        assert held("plain", "").received_count == 0
