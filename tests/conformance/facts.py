"""Facts about a recorded case, found without the code under test: by the standard library alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from typing import Any

Spec = dict[str, Any]

INPUT = "%Y-%m-%dT%H:%M:%S"
OUTPUTS = {
    "StartOfHourMapper": "%Y-%m-%dT%H",
    "StartOfDayMapper": "%Y-%m-%d",
    "StartOfWeekMapper": "%Y-%m-%d (W%V)",
    "StartOfMonthMapper": "%Y-%m",
    "StartOfQuarterMapper": "%Y-Q{quarter}",
    "StartOfYearMapper": "%Y",
}
PERIODS = {
    "HourWindow": ("hour", "minute"),
    "DayWindow": ("day", "hour"),
    "WeekWindow": ("week", "day"),
    "MonthWindow": ("month", "day"),
    "QuarterWindow": ("quarter", "day"),
    "YearWindow": ("year", "day"),
}
_STEPS = {"hour": 1, "day": 24, "week": 168, "month": 24 * 31, "quarter": 24 * 92, "year": 24 * 366}
_ORDER = ("second", "minute", "hour", "day", "week", "month", "quarter", "year")
_STARTS: dict[str, Callable[[datetime], datetime]] = {
    "hour": lambda moment: moment.replace(minute=0, second=0),
    "day": lambda moment: datetime(moment.year, moment.month, moment.day),
    "week": lambda moment: datetime.combine(moment.date() - timedelta(days=moment.weekday()), time.min),
    "month": lambda moment: datetime(moment.year, moment.month, 1),
    "quarter": lambda moment: datetime(moment.year, (moment.month + 2) // 3 * 3 - 2, 1),
    "year": lambda moment: datetime(moment.year, 1, 1),
}
_MOMENTS = (
    datetime(2026, 3, 10, 9, 37, 51),
    datetime(2025, 3, 11, 9, 37, 51),
    datetime(2031, 3, 11, 9, 37, 51),
)


def definitions(part: Any) -> Iterator[Spec]:
    """Every definition inside a case, the outermost first."""
    if isinstance(part, dict):
        if "type" in part:
            yield part
        for each in part.values():
            yield from definitions(each)
    elif isinstance(part, list):
        for each in part:
            yield from definitions(each)


def of_type(case: Spec, *types: str) -> list[Spec]:
    return [spec for spec in definitions(case) if spec["type"] in types]


def temporal(case: Spec) -> list[Spec]:
    return of_type(case, *OUTPUTS)


def grain(spec: Spec) -> str:
    """`day` for a StartOfDayMapper."""
    return str(spec["type"]).removeprefix("StartOf").removesuffix("Mapper").lower()


def member(window: Spec) -> str:
    """`hour` for a DayWindow."""
    return str(window.get("members") or PERIODS[window["type"]][1])


def formats(case: Spec) -> Iterator[tuple[str, str]]:
    """Every key format in a case and the finest period whose keys it must tell apart; any, if empty."""
    for spec in definitions(case):
        if spec["type"] in OUTPUTS:
            yield spec.get("output_format") or OUTPUTS[spec["type"]], grain(spec)
            yield spec.get("input_format", INPUT), ""
        if spec.get("key_format"):
            yield spec["key_format"], ""


@lru_cache(maxsize=4096)
def reads_back(text: str, period: str) -> bool:
    """Whether the standard library reads what it writes in this format, each `period` under its own name."""
    if not isinstance(text, str) or re.search(r"[{}]", text.replace("{quarter}", "")):
        return False
    if "{quarter}" in text:
        return "%Y" in text and text.count("{quarter}") == 1 and period in ("", "quarter", "year")
    text = _without_week(text)
    try:
        names = {moment.strftime(text) for moment in _MOMENTS}
        backs = {datetime.strptime(name, text).strftime(text) for name in names}
    except (ValueError, re.error):
        return False
    return len(names) == len(_MOMENTS) and backs == names and (not period or _apart(text, period))


def spelled(text: str, key: str) -> str | None:
    """`key` as the standard library would write it; none if it cannot read it. An offset is kept as it is."""
    try:
        moment = datetime.strptime(key, text)
        written = moment.strftime(text)
    except (ValueError, TypeError, re.error):
        return None
    if "%z" in text and (offset := re.search(r"(Z|[+-]\d\d:\d\d)$", key)):
        written = re.sub(r"[+-]\d{4}$", offset.group(), written)
    return re.sub(r"^(\d{1,3})(?=-|$)", lambda year: year.group().zfill(4), written)


def wrong_week(key: object) -> bool:
    """Whether the key of a week, in the default form, names another day than Monday or another number."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\d) \(W(\d\d)\)", key) if isinstance(key, str) else None
    if not found:
        return False
    try:
        day = datetime.strptime(found[1], "%Y-%m-%d")
    except ValueError:
        return False
    return day.weekday() != 0 or f"{day.isocalendar().week:02}" != found[2]


def starts_nothing(case: Spec) -> bool:
    """Whether the key is a time in the form of a mapper's output, and no start of its periods."""
    for spec in temporal(case):
        written = spec.get("output_format") or OUTPUTS[spec["type"]]
        for text in segments(case.get("key")):
            try:
                moment = datetime.strptime(str(text), _without_week(written)).replace(tzinfo=None)
            except (ValueError, re.error):
                continue
            if moment != _STARTS[grain(spec)](moment):
                return True
    return False


def segments(key: object) -> set[str]:
    """A key and all that could be a segment of it."""
    return {key, *re.split(r"::|[|#/-]", key)} if isinstance(key, str) else set()


def coarser(left: str, right: str) -> bool:
    return _ORDER.index(left) > _ORDER.index(right)


def unread(before: Spec, after: Spec) -> bool:
    """Whether a mapper of times cannot read what the one before it writes."""
    if not {before["type"], after["type"]} <= set(OUTPUTS):
        return False
    written = before.get("output_format") or OUTPUTS[before["type"]]
    return spelled(after.get("input_format", INPUT), _MOMENTS[0].strftime(written)) is None


def resolution(text: str) -> str:
    """The finest period that a format spells out."""
    for name, directives in (("second", "S"), ("minute", "M"), ("hour", "HI"), ("day", "dju"), ("week", "V")):
        if any(f"%{directive}" in text for directive in directives):
            return name
    if any(f"%{directive}" in text for directive in "mbB"):
        return "month"
    return "quarter" if "{quarter}" in text else "year"


def _without_week(text: str) -> str:
    """The standard library reads a week only with its day, and no ISO week beside a whole date."""
    if all(f"%{directive}" in text for directive in "Ymd"):
        return text.replace("%V", "")
    return f"{text} %u" if "%G" in text and "%V" in text and "%u" not in text else text


def _apart(text: str, period: str) -> bool:
    """Whether neighbouring periods get different names, over two years."""
    step = timedelta(hours=_STEPS[period])
    moments = [datetime(2026, 1, 1) + step * n for n in range(24 * 731 // _STEPS[period] + 2)]
    return all(left.strftime(text) != right.strftime(text) for left, right in pairwise(moments[:800]))
