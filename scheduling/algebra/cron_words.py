"""Cron expressions in words. What they cannot say shortly stays an expression."""

from __future__ import annotations

from scheduling.algebra.cron import PRESETS

_WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_LENGTH = 4
"""How many days, times or months a phrase lists."""


def cron_words(text: str) -> str:
    """`every day at 06:00`, `every 15 minutes`, `on Mondays at 00:00`, or `by the cron 0 0 15W * *`."""
    fields = PRESETS.get(text.strip().lower(), text).split()
    days = _days(*fields[2:]) if len(fields) == 5 else None
    times = _times(*fields[:2]) if len(fields) == 5 else None
    if days is None or times is None:
        return f"by the cron {text}"
    if times.startswith("every"):
        return times if days == "every day" else f"{times} {days}"
    return f"{days} {times}"


def _times(minute: str, hour: str) -> str | None:
    minutes, hours = _listed(minute), _listed(hour)
    if hour == "*":
        return _within_the_hour(minute)
    step = _step(hour, 24)
    if step and minutes is not None and len(minutes) == 1:
        return f"every {step} hours" + (f" at minute {minutes[0]}" if minutes[0] else "")
    if minutes is None or hours is None or len(minutes) * len(hours) > _LENGTH:
        return None
    return f"at {_and([f'{h:02}:{m:02}' for h in hours for m in minutes])}"


def _within_the_hour(minute: str) -> str | None:
    if minute == "*" or minute == "*/1":
        return "every minute"
    if step := _step(minute, 60):
        return f"every {step} minutes"
    minutes = _listed(minute)
    if minutes is None or len(minutes) > _LENGTH:
        return None
    if minutes == [0]:
        return "every hour"
    return f"every hour at minute{'s' if len(minutes) > 1 else ''} {_and([str(m) for m in minutes])}"


def _days(day: str, month: str, weekday: str) -> str | None:
    day, weekday = day.replace("?", "*"), weekday.replace("?", "*")
    if day != "*" and weekday != "*":
        return None
    if weekday != "*":
        return _on_weekdays(weekday) if month == "*" else None
    if day != "*":
        return _on_days(day, month)
    return "every day" if month == "*" else None


def _on_weekdays(weekday: str) -> str | None:
    if weekday.lower() in ("1-5", "mon-fri"):
        return "on weekdays"
    if weekday.lower() in ("0,6", "6,0", "6,7", "sat,sun"):
        return "on weekends"
    named = [_WEEKDAYS[number % 7] + "s" for number in _listed(weekday, _short(_WEEKDAYS)) or ()]
    return f"on {_and(named)}" if 0 < len(named) <= _LENGTH else None


def _on_days(day: str, month: str) -> str | None:
    numbers = _listed(day)
    which = "the last day" if day.upper() == "L" else None
    if numbers is not None and len(numbers) <= _LENGTH:
        which = f"the {_and([_ordinal(number) for number in numbers])}"
    if which is None:
        return None
    if month == "*":
        return f"on {which} of every month"
    if month == "*/3":
        return f"on {which} of every quarter"
    months = _listed(month, ["", *_short(_MONTHS)])
    if months is None or len(months) > _LENGTH:
        return None
    return f"on {which} of {_and([_MONTHS[number - 1] for number in months])}"


def _listed(field: str, names: list[str] | None = None) -> list[int] | None:
    """The numbers of a field that is a plain list of numbers or names."""
    found = []
    for part in field.lower().split(","):
        if names and part in names:
            found.append(names.index(part))
        elif part.isdecimal():
            found.append(int(part))
        else:
            return None
    return found


def _step(field: str, count: int) -> int | None:
    """The step of a field that divides its range evenly, so that "every n" is true."""
    step = int(field[2:]) if field.startswith("*/") and field[2:].isdecimal() else 0
    return step if step > 1 and count % step == 0 else None


def _short(names: tuple[str, ...]) -> list[str]:
    return [name[:3].lower() for name in names]


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th") if number not in (11, 12, 13) else "th"
    return f"{number}{ending}"


def _and(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
