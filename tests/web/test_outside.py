"""What the pages of assets say of keys that their definition does not have."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scheduling import wiping
from scheduling.algebra import specs
from scheduling.sdk import DailyPartitions
from tests.engine.world import ALICE, HOURS_TO_DAY, NOW, asset, consumer, emit, hours, turn
from tests.web.reading import read, squares

pytestmark = pytest.mark.django_db


class TestOutside:
    """Keys that the definition does not have: not yet, or never."""

    def test_what_its_time_has_not_come_for_is_not_due_yet(self, visitor):
        today = timezone.now().date()
        coming = f"{today + timedelta(days=1)}"
        asset("daily", partitions=specs.dump(DailyPartitions(f"{today - timedelta(days=3)}")))
        consumer("sum", {"hourly": HOURS_TO_DAY}, writes=["daily"])
        emit("hourly", *hours(coming, 1))
        turn()
        page = read(visitor.get(f"/assets/daily?key={coming}"))
        assert f"{coming}: held, not due yet" in squares(page)
        assert "not in the definition" not in page.text
        assert page.links["1 not due yet"] == f"?key={coming}&zoom=&state=unexpected"
        assert f"{coming} held not due yet" in read(visitor.get("/assets/daily?state=unexpected")).text
        overview = read(visitor.get("/"))
        assert overview.links["1 not due yet"] == "/assets/daily?state=unexpected"
        assert "not in the definition" not in overview.text

    def test_only_what_never_will_be_one_is_red(self, visitor):
        today = timezone.now().date()
        coming = f"{today + timedelta(days=1)}"
        asset("daily", partitions=specs.dump(DailyPartitions(f"{today - timedelta(days=3)}")))
        emit("daily", coming, "oops")
        for page in ("/assets/daily?state=unexpected&key=", "/assets/daily?key="):
            shown = "".join(visitor.get(f"{page}{key}").content.decode() for key in (coming, "oops"))
            assert '<span class="tag bad">not in the definition</span>' in shown
            assert '<span class="tag">not due yet</span>' in shown

    def test_a_key_that_never_was_one_is_gone_when_it_has_no_data_any_more(self, visitor):
        daily = asset("daily", partitions=specs.dump(DailyPartitions("2026-03-01")))
        emit("daily", "2026-3-9")
        assert "1 not in the definition" in read(visitor.get("/")).links
        wiping.wipe(daily, ["2026-3-9"], deed=ALICE, at=NOW)
        for address in ("/", "/assets/daily", "/assets/daily?state=unexpected"):
            page = read(visitor.get(address))
            assert "2026-3-9" not in page.text
            assert "1 not in the definition" not in page.links
