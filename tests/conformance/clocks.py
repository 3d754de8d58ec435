"""Facts about the clocks that a recorded case is told by, found by the standard library alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from tests.conformance import facts
from tests.conformance.facts import INPUT, OUTPUTS, Spec


def zone(spec: Spec) -> ZoneInfo:
    try:
        return ZoneInfo(spec.get("timezone") or "UTC")
    except (LookupError, ValueError, OSError):
        return ZoneInfo("UTC")


def foreign_offset(case: Spec) -> bool:
    """Whether the key has an offset that clocks of its mapper's zone do not show then."""
    for spec in facts.temporal(case):
        for text in (spec.get("output_format") or "", spec.get("input_format") or ""):
            try:
                moment = datetime.strptime(str(case.get("key")), text)
            except (ValueError, re.error):
                continue
            if moment.tzinfo and moment.astimezone(zone(spec)).utcoffset() != moment.utcoffset():
                return True
    return False


def skipped(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks in `zone` never show `wall`; at the ends of the calendar they do."""
    try:
        shown = wall.replace(tzinfo=zone).astimezone(UTC).astimezone(zone)
    except OverflowError:
        return False
    return shown.replace(tzinfo=None) != wall


def repeated(wall: datetime, zone: ZoneInfo) -> bool:
    """Whether clocks in `zone` show `wall` twice."""
    first, second = wall.replace(tzinfo=zone), wall.replace(tzinfo=zone, fold=1)
    return not skipped(wall, zone) and first.utcoffset() != second.utcoffset()


def ever_change(zone: ZoneInfo) -> bool:
    offsets = {datetime(2024, month, 1, tzinfo=UTC).astimezone(zone).utcoffset() for month in range(1, 13)}
    return len(offsets) > 1


def walls(case: Spec, *, naive: bool = True) -> Iterator[tuple[datetime, ZoneInfo]]:
    """The wall times that keys of a case can mean, each with its zone; `naive`: those without an offset."""
    texts = [case[name] for name in ("key", "value") if isinstance(case.get(name), str)]
    for spec in facts.definitions(case):
        found = {spec.get("input_format", INPUT), spec.get("output_format") or OUTPUTS.get(spec["type"], "")}
        found |= {spec.get("key_format") or INPUT}
        for text in (piece for whole in texts for piece in facts.segments(whole)):
            for form in found:
                try:
                    wall = datetime.strptime(text, form)
                except (ValueError, TypeError, re.error):
                    continue
                if wall.tzinfo is None:
                    yield wall, zone(spec)
                elif not naive and 1 < wall.year < 9999:
                    yield wall.astimezone(zone(spec)).replace(tzinfo=None), zone(spec)


def change_near(case: Spec) -> bool:
    """Whether clocks change within a day and a half of some time that the case names."""
    for wall, found in walls(case, naive=False):
        try:
            offsets = {
                (wall + timedelta(hours=hours)).replace(tzinfo=found).utcoffset() for hours in range(-36, 37)
            }
        except OverflowError:
            continue
        if len(offsets) > 1:
            return True
    return False
