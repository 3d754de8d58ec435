"""The newest partition that has data; what is newer: how many times, and the selection that says which."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Partition
from scheduling.board import newest
from scheduling.board.cells import Cells, Look
from scheduling.board.newest import Newest, newest_of
from tests.board.drawing import cells, days
from tests.engine.world import MINUTE, NOW, asset, emit

pytestmark = pytest.mark.django_db

HELD = Look.HELD


@pytest.mark.parametrize(
    ("keys", "looks", "behind", "selection"),
    [
        (days("2026-03-01", 5), Look.MATERIALIZED, 0, ""),
        (days("2026-03-01", 5), Look.MISSING, 0, ""),
        (days("2026-03-01", 5), {"2026-03-03": Look.STALE}, 2, "[2026-03-04...2026-03-05]"),
        (
            days("2026-03-01", 5),
            {"2026-03-02": Look.MATERIALIZED, "2026-03-05": HELD},
            3,
            "[2026-03-03...2026-03-05]",
        ),
        (["red", "green"], {"red": Look.MATERIALIZED}, 0, ""),
        (["oops", *days("2026-03-01", 5)], {"oops": Look.MATERIALIZED}, 0, ""),
        (
            [f"{city}|{day}" for day in days("2026-03-01", 4) for city in ("sf", "tw")],
            {"sf|2026-03-02": Look.MATERIALIZED},
            2,
            "*|[2026-03-03...2026-03-04]",
        ),
    ],
)
def test_what_is_newer_is_counted_and_said(keys, looks, behind, selection):
    drawn = cells(keys, looks)
    emit("some", *keys)
    found = of_asset(drawn)
    assert (found.behind, found.newer) == (behind, selection)


class TestNewest:
    def test_is_the_last_with_data_and_says_when_that_came(self):
        emit("some", "2026-03-01")
        emit("some", "2026-03-02", at=NOW + MINUTE)
        looks = {"2026-03-01": Look.MATERIALIZED, "2026-03-02": Look.STALE}
        found = of_asset(cells(days("2026-03-01", 4), looks))
        assert (found.key, found.data_at) == ("2026-03-02", NOW + MINUTE)

    def test_nothing_is_where_there_is_no_data(self):
        assert of_asset(cells(days("2026-03-01", 4), {})) == Newest()

    @pytest.mark.parametrize("look", [Look.FAILED, Look.RUNNING])
    def test_is_one_whose_latest_attempt_failed_or_is_under_way_where_it_has_data(self, look):
        emit("some", "2026-03-01", "2026-03-03")
        looks = {"2026-03-01": Look.MATERIALIZED, **dict.fromkeys(days("2026-03-02", 3), look)}
        found = of_asset(cells(days("2026-03-01", 5), looks))
        assert (found.key, found.behind, found.newer) == ("2026-03-03", 2, "[2026-03-04...2026-03-05]")

    def test_is_found_though_every_latest_attempt_failed(self):
        emit("some", "2026-03-01")
        assert of_asset(cells(days("2026-03-01", 3), Look.FAILED)).key == "2026-03-01"

    def test_where_very_many_failed_it_is_said_among_how_many_none_was_found(self, monkeypatch):
        monkeypatch.setattr(newest, "MOST_ASKED", 3)
        emit("some", "2026-03-01")
        assert of_asset(cells(days("2026-03-01", 4), Look.FAILED)) == Newest(looked_at=3)
        assert of_asset(cells(days("2026-03-01", 3), Look.FAILED)).key == "2026-03-01"

    def test_is_not_an_older_one_where_nobody_has_asked_for_all_that_failed_after_it(self, monkeypatch):
        monkeypatch.setattr(newest, "MOST_ASKED", 2)
        emit("some", "2026-03-01", "2026-03-03")
        looks = {"2026-03-01": Look.MATERIALIZED, **dict.fromkeys(days("2026-03-02", 4), Look.FAILED)}
        assert of_asset(cells(days("2026-03-01", 5), looks)) == Newest(looked_at=2)

    def test_of_one_among_many_in_which_very_many_failed_is_asked_once_more(self, monkeypatch):
        monkeypatch.setattr(newest, "MOST_ASKED", 4)
        emit("some", "2026-03-01", "2026-03-03")
        emit("other", "2026-03-02")
        looks = {"2026-03-01": Look.MATERIALIZED, **dict.fromkeys(days("2026-03-02", 5), Look.FAILED)}
        well = cells(days("2026-03-01", 2), {"2026-03-02": Look.MATERIALIZED})
        drawn = {"some": cells(days("2026-03-01", 6), looks), "other": well}
        found = newest_of({asset(name).pk: each for name, each in drawn.items()})
        assert [(each.key, each.behind) for each in found.values()] == [("2026-03-03", 3), ("2026-03-02", 0)]

    def test_is_found_where_just_as_many_failed_as_are_asked(self, monkeypatch):
        monkeypatch.setattr(newest, "MOST_ASKED", 2)
        emit("some", "2026-03-01")
        looks = {"2026-03-01": Look.MATERIALIZED, "2026-03-03": Look.FAILED, "2026-03-04": Look.RUNNING}
        assert of_asset(cells(days("2026-03-01", 4), looks)).key == "2026-03-01"

    def test_of_more_assets_than_partitions_are_asked_is_found_of_each(self):
        """So many conditions at once are more than SQLite takes."""
        emit("some", "2026-03-01")
        emit("other", "2026-03-01")
        well, failed = (cells(["2026-03-01"], look) for look in (Look.MATERIALIZED, Look.FAILED))
        some, other = asset("some").pk, asset("other").pk
        others = dict.fromkeys(range(other + 1, other + 1100), failed)
        found = newest_of({some: well, **others, other: failed})
        assert (found[some].key, found[other].key) == ("2026-03-01", "2026-03-01")
        assert not any(found[pk].key for pk in others)

    def test_of_each_asset_takes_one_query(self):
        emit("some", "2026-03-01")
        emit("other", "2026-03-02")
        drawn = cells(days("2026-03-01", 3), Look.FAILED)
        with CaptureQueriesContext(connection) as queries:
            found = newest_of({asset(name).pk: drawn for name in ("some", "other")})
        assert [each.key for each in found.values()] == ["2026-03-01", "2026-03-02"]
        assert len(queries) == 3  # two of them look for the assets

    def test_of_no_asset_is_nothing(self):
        assert newest_of({}) == {}


def of_asset(drawn: Cells) -> Newest:
    """Of cells whose looks are those of no row: it is the data of the rows that counts."""
    assert not Partition.objects.filter(data_at__isnull=True).exists()
    return newest_of({asset("some").pk: drawn})[asset("some").pk]
