"""The keys that come, and are backfilled, while everything happens at once."""

from tests.engine.world import hours

KEYS = [f"k{number:03}" for number in range(60)]
DAYS = [f"2026-03-{day:02}" for day in range(1, 4)]
HOURS = [key for day in DAYS for key in hours(day, *range(24))]
OFTEN = [f"o{number}" for number in range(6)]
MADE = [f"m{number:03}" for number in range(30)]
TAKEN_BACK = [f"t{number:03}" for number in range(30)]
