"""What is newer than all that has data: how many times, and the selection that says which."""

import pytest

from scheduling.board.cells import Look
from scheduling.board.choice import spelled_newer
from tests.board.drawing import cells, days

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
def test_is_counted_and_said(keys, looks, behind, selection):
    drawn = cells(keys, looks)
    assert (drawn.behind, spelled_newer(drawn)) == (behind, selection)
