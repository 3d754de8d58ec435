"""`redraw`: the drawings of assets, made anew."""

from concurrent.futures import ThreadPoolExecutor
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from core import locks
from core.models import Drawing, DrawnBlock, Partition
from scheduling import drawings
from scheduling.board import Look, read
from tests.engine.world import NOW, asset, emit

pytestmark = pytest.mark.django_db


def redraw(*names):
    said = StringIO()
    call_command("redraw", *names, stdout=said)
    return said.getvalue().strip()


def test_draws_what_was_never_drawn():
    emit("daily", "2026-03-01", "2026-03-02")
    emit("other", "2026-03-01")
    assert redraw() == "drew 2 assets; 3 partitions and held runs were not drawn yet"
    assert not Partition.objects.filter(is_undrawn=True).exists()


def test_makes_anew_what_somebody_has_spoilt():
    emit("daily", "2026-03-01")
    redraw()
    DrawnBlock.objects.update(looks=bytes([Look.FAILED]), edition="00000000-0000-0000-0000-000000000001")
    assert read([asset("daily")], now=NOW)[asset("daily").pk].cells.look(0) is Look.FAILED
    redraw("daily")
    assert read([asset("daily")], now=NOW)[asset("daily").pk].cells.look(0) is Look.MATERIALIZED


def test_leaves_the_drawings_of_others_alone():
    emit("daily", "2026-03-01")
    emit("other", "2026-03-01")
    redraw()
    before = Drawing.objects.get(asset__name="other").uid
    redraw("daily")
    assert Drawing.objects.get(asset__name="other").uid == before


def test_names_an_asset_that_there_is_not():
    with pytest.raises(CommandError, match="no asset is called nobody"):
        redraw("nobody")


def test_forgetting_says_how_many_drawings_there_were():
    emit("daily", "2026-03-01")
    drawings.draw(now=NOW)
    assert drawings.forget([asset("daily")]) == 1
    assert drawings.forget([asset("daily")]) == 0


@pytest.mark.pg
@pytest.mark.django_db(transaction=True)
def test_says_that_somebody_draws_at_this_moment():
    emit("daily", "2026-03-01")
    with ThreadPoolExecutor(1) as other, transaction.atomic():
        assert locks.try_drawing()
        with pytest.raises(CommandError, match="somebody draws at this moment: try again"):
            other.submit(_elsewhere).result()


def _elsewhere():
    try:
        redraw()
    finally:
        connection.close()
