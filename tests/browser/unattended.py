"""An installation whose pages work while nobody else does: what is late, and what is not drawn yet."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

from tests.installed import LOGIN, Installation

RARE = Path(__file__).parent / "rare"
FIRST = datetime(2026, 1, 1)
MINUTES = 51_000
"""One more than are looked through for one page."""

SOME = 6_000
"""More than are read one by one where nothing is drawn."""

PORTION = 10_000

STATES = {
    "late": "/held?late=yes",
    "asset-late": "/assets/daily_deliveries?key=2026-03-12",
    "overview-late": "/",
    "being-drawn": "/assets/meters",
    "many-changes": "/assets/readings",
    "look-further": f"/assets/readings?tab=events&contains={FIRST:%Y-%m-%dT%H:%M}",
    "nobody-works": "/health",
    "sensors": "/sensors",
    "sensor": "/sensors/ask_the_carrier",
    "sensor-look": "/look?sensor=ask_the_carrier",
}
"""Screens that are seldom seen otherwise, by their names."""


@contextmanager
def unattended(directory: Path) -> Iterator[Installation]:
    """It has worked until a day was late. Then very many events came, and it works no more."""
    made = Installation(
        directory,
        *("--no-demo", "--definitions", str(RARE / "first"), "--user", ":".join(LOGIN)),
    )
    made.start()
    try:
        made.sign_in()
        _report(made, "hourly_deliveries", [f"2026-03-12T{hour:02}:00:00" for hour in range(20)])
        made.wait_for(lambda: _late(made))
        made.interrupt()
        # With one file more, of whose asset nothing is ever drawn.
        sources = {"PARTITA_DEFINITIONS": f"{RARE / 'first'},{RARE / 'later'}"}
        made = Installation(directory, environment=sources)
        assert made.popen("sync_definitions").wait() == 0
        made.popen("web", "--port", str(made.port))
        made.wait_for(made.answers)
        made.sign_in()
        keys = [f"{FIRST + timedelta(minutes=number):%Y-%m-%dT%H:%M}" for number in range(MINUTES)]
        for start in range(0, MINUTES, PORTION):
            _report(made, "readings", keys[start : start + PORTION])
        _report(made, "meters", keys[:SOME])
        yield made
    finally:
        made.kill_everything()


def attend(made: Installation) -> None:
    """Let somebody work again."""
    made.popen("engine")


def _late(made: Installation) -> bool:
    return bool(made.request("GET", "/api/v2/heldRuns?is_late=true")[1]["total_entries"])


def _report(made: Installation, asset: str, keys: list[str]) -> None:
    [row] = made.request("GET", f"/api/v2/assets?name_pattern={asset}")[1]["assets"]
    events = [{"asset_id": row["id"], "partition_key": key} for key in keys]
    status, answer = made.request("POST", "/api/v2/assets/events/bulk", events)
    assert status == 200, answer
