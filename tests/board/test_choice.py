"""What a selection on a grid means, and how the grid is laid out so that one can be written from it."""

import pytest

from scheduling import board, dynamic
from scheduling.algebra import specs
from scheduling.board import Look
from scheduling.board.choice import around_of
from scheduling.board.labels import places
from scheduling.sdk import DailyPartitions, DynamicPartitions, MultiPartitions, StaticPartitions
from tests.engine.world import ALICE, NOW, asset, emit

pytestmark = pytest.mark.django_db

DAYS = DailyPartitions("2026-03-01")


def cells_of(name):
    return board.read([asset(name)], now=NOW)[asset(name).pk].cells


def choose(name, text, only=None):
    return board.choose(asset(name), cells_of(name), text, only, now=NOW)


def keys(name, text, only=None):
    cells, choice = cells_of(name), choose(name, text, only)
    return [place.key for at, place in enumerate(cells.places) if choice.has(at, cells.look(at))]


@pytest.fixture
def daily(db):
    asset("daily", partitions=specs.dump(DAYS))
    emit("daily", "2026-03-02", "2026-03-03")


@pytest.fixture
def stores(db):
    shops = StaticPartitions(["lj", "mb"])
    asset("stores", partitions=specs.dump(MultiPartitions({"shop": shops, "day": DAYS})))


class TestExample:
    """What the empty field shows is something that one can type here."""

    @pytest.mark.parametrize(
        ("partitions", "emitted", "shown"),
        [
            (DAYS, (), "[2026-03-01...2026-03-10]"),
            (
                MultiPartitions({"shop": StaticPartitions(["lj", "mb"]), "day": DAYS}),
                (),
                "mb|[2026-03-05...2026-03-10]",
            ),
            (
                MultiPartitions({"day": DAYS, "shop": StaticPartitions(["l j", "a,b"])}),
                ("1970-01-01|a,b",),
                "*",
            ),
            (StaticPartitions(["lj", "mb", "kp"]), (), "lj, mb"),
            (StaticPartitions(["one, two", "*"]), (), '"one, two", "*"'),
            (MultiPartitions({"a": StaticPartitions(["x"]), "b": StaticPartitions(["y", "z"])}), (), "x|*"),
            (
                None,
                ("oops", *(f"tw|2026-03-{day:02}" for day in range(1, 20))),
                "tw|[2026-03-09...2026-03-19]",
            ),
            (None, ("2026-03-29T03:00:00+0200", "2026-03-29T04:00:00+0200"), None),
        ],
    )
    def test_means_something(self, db, partitions, emitted, shown):
        asset("seen", partitions=specs.dump(partitions) if partitions else None)
        emit("seen", *emitted)
        example = board.example(cells_of("seen"))
        assert shown in (None, example)
        assert choose("seen", example).count > 1

    def test_of_a_period_lies_in_it(self, db):
        asset("daily", partitions=specs.dump(DailyPartitions("2026-01-01")))
        assert board.example(cells_of("daily"), "2026-01") == "[2026-01-21...2026-01-31]"
        assert board.example(cells_of("daily"), "2025") == "[2026-02-28...2026-03-10]"

    def test_of_nothing_is_everything(self, db):
        asset("seen")
        assert board.example(cells_of("seen")) == "*"


@pytest.mark.usefixtures("daily")
class TestChoose:
    def test_counts_what_is_selected_by_state(self):
        choice = choose("daily", "[2026-03-01...2026-03-04]")
        assert choice.count == 4
        assert choice.tally.words == "2 materialized, 2 missing"

    def test_can_be_narrowed_to_a_state_and_still_counts_all(self):
        choice = choose("daily", "[2026-03-01...2026-03-04]", Look.MISSING)
        assert keys("daily", "[2026-03-01...2026-03-04]", Look.MISSING) == ["2026-03-01", "2026-03-04"]
        assert (choice.count, choice.tally.total) == (2, 4)

    def test_names_the_key_if_it_is_one(self):
        assert choose("daily", "2026-03-05").key == "2026-03-05"
        assert choose("daily", "2026-03-05, 2026-03-06").key == ""

    def test_points_at_what_cannot_be_read(self):
        choice = choose("daily", "2026-03-05, [2026-03-06")
        assert "character" in choice.wrong
        assert choice.pointed.endswith("\n" + " " * 23 + "^")
        assert not choice.positions

    def test_a_key_that_the_asset_does_not_have_is_wrong(self):
        assert "1999-01-01" in choose("daily", "1999-01-01").wrong

    def test_segments_are_selected_one_by_one(self, stores):
        assert keys("stores", "*|2026-03-04") == ["lj|2026-03-04", "mb|2026-03-04"]
        assert len(keys("stores", "mb|[2026-03-04...2026-03-06]")) == 3

    def test_without_a_definition_among_the_keys_that_have_been_seen(self):
        emit("seen", "2026-01-01", "2026-01-02", "2026-01-05")
        assert keys("seen", "[2026-01-02...2026-01-09]") == ["2026-01-02", "2026-01-05"]
        assert choose("seen", "2025-01-01").wrong

    def test_dynamic_keys_are_those_of_now(self):
        asset("shops", partitions=specs.dump(DynamicPartitions("shops")))
        dynamic.add("shops", ["lyon", "oslo"], deed=ALICE, at=NOW)
        assert keys("shops", "oslo") == ["oslo"]
        assert choose("shops", "bern").wrong

    def test_a_definition_that_cannot_be_read_is_said(self):
        asset("daily").__class__.objects.update(partitions={"type": "Nonsense"})
        assert "cannot be read" in board.choose(asset("daily"), cells_of("daily"), "x", None, now=NOW).wrong


class TestSpelled:
    def test_everything_is_a_star(self, daily):
        assert board.spelled(cells_of("daily"), "") == "*"
        assert len(keys("daily", "*")) == len(cells_of("daily").places)

    def test_a_period_is_a_range_of_itself(self, daily, stores):
        assert board.spelled(cells_of("daily"), "2026-03") == "[2026-03...2026-03]"
        text = board.spelled(cells_of("stores"), "2026-03-04")
        assert text == "*|[2026-03-04...2026-03-04]"
        assert keys("stores", text) == ["lj|2026-03-04", "mb|2026-03-04"]


class TestAround:
    @pytest.mark.parametrize(
        ("key", "around"),
        [
            ("2026-03-01", ("", "")),
            ("lj|2026-03-01", ("lj|", "")),
            ("2026-03-01|lj", ("", "|lj")),
            ("a|2026-03-01|b", ("a|", "|b")),
            ("a|left", ("a|", "")),
            ("a, b|2026-03-01", None),
        ],
    )
    def test_is_what_stands_beside_the_segment_of_a_column(self, key, around):
        [place] = places([key])
        assert around_of(place) == around


class TestGrid:
    def test_marks_what_is_selected(self, daily):
        cells = cells_of("daily")
        choice = choose("daily", "[2026-03-02...2026-03-03]")
        grid = board.lay_out(cells, "2026-03", selected=choice.has)
        boxes = [box for row in grid.groups[0].rows for box in row.boxes]
        marked = [cell.key for box in boxes for cell in box if cell.is_chosen]
        assert marked == ["2026-03-02", "2026-03-03"]

    def test_a_calendar_is_read_on_from_row_to_row_and_a_matrix_is_not(self, daily, stores):
        assert board.lay_out(cells_of("daily")).is_line
        grid = board.lay_out(cells_of("stores"), "2026-03")
        assert not grid.is_line
        assert [row.around for group in grid.groups for row in group.rows] == [("lj|", ""), ("mb|", "")]

    def test_a_page_that_shows_every_row_says_so(self, daily):
        assert board.lay_out(cells_of("daily")).is_whole
