import pytest

from core.models import Dag, DagRun, HeldRun
from scheduling import board, journal, runs
from scheduling.board import HeldFilter, JournalFilter, RunFilter, lists
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, MINUTE, NOW, asset, consumer, emit, turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def held(db):
    """Seven days held by one Dag, two by another."""
    consumer("sum", {"hourly": HOURS_TO_DAY})
    consumer("count", {"visits": HOURS_TO_DAY})
    emit("hourly", *(f"2026-03-0{day}T09:00:00" for day in range(1, 8)))
    emit("visits", "2026-02-01T09:00:00", "2026-02-02T09:00:00")
    turn()
    HeldRun.objects.filter(partition_key="2026-03-04").update(verdict="broken")


def keys(wanted=None, **options):
    page = board.held_runs(wanted or HeldFilter(), now=NOW, **options)
    return [row.partition_key for row in page.rows], page.following


@pytest.mark.usefixtures("held")
class TestHeldRuns:
    def test_what_never_fires_comes_first_then_those_that_have_waited_longest(self):
        found, following = keys()
        assert found[0] == "2026-03-04"
        assert found[1:] == sorted(found[1:], key=lambda key: HeldRun.objects.get(partition_key=key).pk)
        assert (len(found), following) == (9, "")

    def test_what_is_late_comes_before_it(self):
        HeldRun.objects.filter(partition_key__in=["2026-03-06", "2026-03-02"]).update(late_at=NOW)
        HeldRun.objects.filter(partition_key="2026-03-01").update(late_at=NOW + MINUTE)
        assert keys()[0][:4] == ["2026-03-02", "2026-03-06", "2026-03-04", "2026-03-01"]
        assert keys(HeldFilter(only_late=True))[0] == ["2026-03-02", "2026-03-06"]

    def test_newest_first_turns_each_part_round(self):
        found = keys()[0]
        assert keys(HeldFilter(newest_first=True))[0] == [found[0], *found[:0:-1]]

    @pytest.mark.parametrize("newest_first", [False, True])
    def test_pages_cover_everything_once(self, newest_first):
        wanted, found, after = HeldFilter(newest_first=newest_first), [], ""
        HeldRun.objects.filter(partition_key__gte="2026-03-05").update(late_at=NOW)
        while True:
            page, following = keys(wanted, after=after, size=2)
            found += page
            if not following:
                break
            after = following
        assert found == keys(wanted)[0]

    def test_a_page_that_is_just_full_has_no_next(self):
        assert keys(size=9)[1] == ""

    @pytest.mark.parametrize(
        ("wanted", "count"),
        [
            (HeldFilter(verdict="broken"), 1),
            (HeldFilter(dag="count"), 2),
            (HeldFilter(asset="visits"), 2),
            (HeldFilter(key="03-0"), 7),
            (HeldFilter(dag="sum", key="02-0"), 0),
        ],
    )
    def test_are_narrowed(self, wanted, count):
        assert len(keys(wanted)[0]) == count

    def test_what_has_fired_is_not_among_them(self):
        row = HeldRun.objects.held().first()
        world.holds.fire_now(row, deed=ALICE, at=NOW)
        assert row.partition_key not in keys()[0]


class TestRuns:
    @pytest.fixture(autouse=True)
    def some(self, db):
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"})
        for day in range(1, 6):
            runs.trigger(made, Ask(f"2026-03-0{day}"), deed=ALICE, at=NOW)
        runs.trigger(world.dag("report"), Ask(run_id="the one"), deed=ALICE, at=NOW)

    def test_the_newest_come_first(self):
        rows = board.runs(RunFilter()).rows
        assert [row.partition_key for row in rows][:2] == [None, "2026-03-05"]

    @pytest.mark.parametrize(
        ("wanted", "count"),
        [
            (RunFilter(dag="nightly"), 5),
            (RunFilter(state="running"), 0),
            (RunFilter(run_type="manual"), 6),
            (RunFilter(key="-03-03"), 1),
            (RunFilter(run_id="the one"), 1),
            (RunFilter(due=(NOW, NOW + MINUTE)), 6),
            (RunFilter(due=(NOW - MINUTE, NOW)), 0),
            (RunFilter(due=(NOW + MINUTE, NOW + 9 * MINUTE)), 0),
        ],
    )
    def test_are_narrowed(self, wanted, count):
        assert len(board.runs(wanted).rows) == count

    def test_one_that_is_tried_again_is_due_another_day(self):
        DagRun.objects.filter(partition_key="2026-03-01").update(run_after=NOW + 5 * MINUTE)
        found = board.runs(RunFilter(due=(NOW + MINUTE, NOW + 9 * MINUTE)))
        assert [row.partition_key for row in found.rows] == ["2026-03-01"]
        assert len(board.runs(RunFilter(dag="nightly", due=(NOW, NOW + MINUTE))).rows) == 4

    def test_older_ones_are_on_the_next_page(self):
        first = board.runs(RunFilter(), size=4)
        rest = board.runs(RunFilter(), after=first.following, size=4)
        assert [row.pk for row in first.rows + rest.rows] == [row.pk for row in board.runs(RunFilter()).rows]


class TestLooking:
    """What no index knows is looked for among so many rows of each page."""

    @pytest.fixture(autouse=True)
    def few(self, monkeypatch, db):
        monkeypatch.setattr(lists, "MOST_LOOKED_THROUGH", 3)
        made = world.dag("nightly", {"type": "PartitionedAtRuntime"})
        runs.trigger(made, Ask("EU|2026"), deed=ALICE, at=NOW)
        for number in range(7):
            runs.trigger(made, Ask(f"us|{number}"), deed=ALICE, at=NOW)

    def test_goes_on_where_it_stopped(self):
        found, pages, after = [], [], 0
        while True:
            page = board.runs(RunFilter(key="eu"), after=after)
            found += [row.partition_key for row in page.rows]
            pages.append((len(page.rows), page.looked_through))
            if not page.following:
                break
            after = page.following
        assert found == ["EU|2026"]
        assert pages == [(0, 3), (0, 3), (1, 0)]

    def test_a_full_page_ends_at_its_last_row(self):
        page = board.runs(RunFilter(key="us"), size=2)
        assert ([row.partition_key for row in page.rows], page.looked_through) == (["us|6", "us|5"], 0)
        rest = board.runs(RunFilter(key="us"), after=page.following)
        assert [row.partition_key for row in rest.rows] == ["us|4", "us|3", "us|2"]

    def test_a_page_without_room_for_all_its_rows_says_so_as_well(self, monkeypatch):
        monkeypatch.setattr(lists, "room_for", lambda keys: 1)
        page = board.journal(JournalFilter(key="us"))
        assert ([row.partition_key for row in page.rows], page.looked_through) == (["us|6"], 3)
        assert page.following == page.rows[0].pk

    def test_counts_the_rows_of_one_dag_alone(self):
        other, nightly = (
            world.dag("other", {"type": "PartitionedAtRuntime"}),
            Dag.objects.get(dag_id="nightly"),
        )
        runs.trigger(other, Ask("2026"), deed=ALICE, at=NOW)
        for number in range(7):
            runs.trigger(nightly, Ask(f"us|x{number}"), deed=ALICE, at=NOW)
        assert [row.partition_key for row in board.runs(RunFilter(dag="other", key="20")).rows] == ["2026"]

    def test_what_an_index_knows_is_found_wherever_it_lies(self):
        assert [row.partition_key for row in board.runs(RunFilter(state="queued")).rows][-1] == "EU|2026"
        assert len(board.runs(RunFilter(dag="nightly")).rows) == 8


class TestJournal:
    @pytest.fixture(autouse=True)
    def some(self, db):
        made = world.dag("nightly")
        journal.note("dag paused", deed=ALICE, at=NOW, about=made)
        journal.note("asset event recorded", deed=ALICE, at=NOW, about=asset("daily"), key="2026-03-09")
        journal.note("worker lost", at=NOW, about=made)

    def test_the_latest_comes_first(self):
        assert board.journal(JournalFilter()).rows[0].event == "worker lost"

    @pytest.mark.parametrize(
        ("wanted", "count"),
        [
            (JournalFilter(event="dag paused"), 1),
            (JournalFilter(dag="nightly"), 2),
            (JournalFilter(asset="daily"), 1),
            (JournalFilter(by="alice"), 2),
            (JournalFilter(key="03-09"), 1),
            (JournalFilter(during=(NOW, NOW + MINUTE)), 3),
            (JournalFilter(during=(NOW - MINUTE, NOW)), 0),
            (JournalFilter(dag="nightly", during=(NOW, NOW + MINUTE)), 2),
        ],
    )
    def test_is_narrowed(self, wanted, count):
        assert len(board.journal(wanted).rows) == count
