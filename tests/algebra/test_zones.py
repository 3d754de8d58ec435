"""The groups of zones that other tests take one zone of."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest

from tests.algebra.zones import alike

TRICKY = ("UTC", "Africa/Casablanca", "America/Havana", "Asia/Gaza", "Australia/Lord_Howe", "Pacific/Apia")


class TestAlike:
    @pytest.mark.parametrize("year", [1987, 1996, 2011, 2026])
    def test_has_every_zone_in_one_group(self, year):
        grouped = [name for names in alike(year).values() for name in names]
        assert sorted(grouped) == sorted(available_timezones())

    @pytest.mark.parametrize("year", [1996, 2011])
    def test_groups_zones_whose_clocks_agree_whenever_one_looks(self, year):
        first = datetime(year - 1, 1, 1, tzinfo=UTC)
        moments = [first + n * timedelta(hours=17, minutes=11) for n in range(3 * 365 * 24 // 17)]
        for names in alike(year).values():
            shown = {
                tuple(at.astimezone(ZoneInfo(name)).replace(tzinfo=None) for at in moments) for name in names
            }
            assert len(shown) == 1, names

    def test_tells_apart_what_changes_on_another_day_or_by_another_step(self):
        firsts = {first for first, names in alike(2026).items() for name in names if name in TRICKY}
        assert len(firsts) == len(TRICKY)
        together = next(names for names in alike(2026).values() if "Europe/Berlin" in names)
        assert "Europe/Paris" in together
        assert "Europe/London" not in together
