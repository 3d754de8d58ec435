"""The directives of key formats: how each is written, and what its text tells."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

from scheduling.algebra.errors import InvalidKey

Write = Callable[[datetime], str]

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

DIRECTIVES: dict[str, tuple[str, Write]] = {
    "Y": ("[0-9]{4}", lambda wall: f"{wall.year:04}"),
    "y": ("[0-9]{2}", lambda wall: _short_year(wall)),
    "m": ("[0-9]{2}", lambda wall: f"{wall.month:02}"),
    "b": ("|".join(name[:3] for name in _MONTHS), lambda wall: _MONTHS[wall.month - 1][:3]),
    "B": ("|".join(_MONTHS), lambda wall: _MONTHS[wall.month - 1]),
    "d": ("[0-9]{2}", lambda wall: f"{wall.day:02}"),
    "j": ("[0-9]{3}", lambda wall: f"{wall.timetuple().tm_yday:03}"),
    "H": ("[0-9]{2}", lambda wall: f"{wall.hour:02}"),
    "I": ("[0-9]{2}", lambda wall: f"{(wall.hour - 1) % 12 + 1:02}"),
    "p": ("AM|PM", lambda wall: "PM" if wall.hour >= 12 else "AM"),
    "M": ("[0-9]{2}", lambda wall: f"{wall.minute:02}"),
    "S": ("[0-9]{2}", lambda wall: f"{wall.second:02}"),
    "G": ("[0-9]{4}", lambda wall: f"{wall.isocalendar().year:04}"),
    "V": ("[0-9]{2}", lambda wall: f"{wall.isocalendar().week:02}"),
    "u": ("[1-7]", lambda wall: str(wall.isoweekday())),
    "w": ("[0-6]", lambda wall: str(wall.isoweekday() % 7)),
    "a": ("|".join(name[:3] for name in _DAYS), lambda wall: _DAYS[wall.weekday()][:3]),
    "A": ("|".join(_DAYS), lambda wall: _DAYS[wall.weekday()]),
    "U": ("[0-9]{2}", lambda wall: _week_of_year(wall, wall.isoweekday() % 7)),
    "W": ("[0-9]{2}", lambda wall: _week_of_year(wall, wall.weekday())),
    "quarter": ("[1-4]", lambda wall: str((wall.month + 2) // 3)),
    "z": (r"[+-][0-9]{2}:?[0-9]{2}(?::?[0-9]{2})?|Z", lambda wall: _offset_text(wall.utcoffset())),
}
"""For each directive, the texts that it can be and how it is written."""

TELLS = {"y": "Y", "b": "m", "B": "m", "w": "u", "a": "u", "A": "u", "I": "H"}
"""What several directives tell, under one name."""


def told(directives: list[str], texts: tuple[str, ...]) -> dict[str, int]:
    """What the texts of a key tell, as numbers."""
    found: dict[str, int] = {}
    for name, text in zip(directives, texts, strict=True):
        found[TELLS.get(name, name)] = _number(name, text)
    if "p" in found:
        found["H"] = found["H"] % 12 + found["p"]
    return found


def offset_of(texts: tuple[str, ...], directives: list[str]) -> tuple[timedelta | None, str]:
    """The offset from UTC that the texts of a key tell, if the format has one, and how it is spelled.

    :raises ValueError: if it is none.
    """
    if "z" not in directives:
        return None, ""
    text = texts[directives.index("z")]
    if text == "Z":
        return timedelta(0), text
    digits = text[1:].replace(":", "")
    hours, minutes, seconds = int(digits[:2]), int(digits[2:4]), int(digits[4:] or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError(text)
    offset = timedelta(hours=hours, minutes=minutes, seconds=seconds)
    return (-offset if text[0] == "-" else offset), text


def _number(name: str, text: str) -> int:
    if name in ("b", "B"):
        return next(n for n, month in enumerate(_MONTHS, 1) if month[: len(text)] == text)
    if name in ("a", "A"):
        return next(n for n, day in enumerate(_DAYS, 1) if day[: len(text)] == text)
    if name == "p":
        return 12 if text == "PM" else 0
    if name == "z":
        return 0
    number = int(text)
    if name == "y":
        return number + (1900 if number >= 69 else 2000)
    return 7 if name == "w" and number == 0 else number


def _short_year(wall: datetime) -> str:
    if 1969 <= wall.year <= 2068:
        return f"{wall.year % 100:02}"
    raise InvalidKey(f"%y can only name the years 1969 to 2068, not {wall.year}")


def _week_of_year(wall: datetime, weekday: int) -> str:
    return f"{(wall.timetuple().tm_yday + 6 - weekday) // 7:02}"


def _offset_text(offset: timedelta | None) -> str:
    seconds = 0 if offset is None else int(offset.total_seconds())
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    rest = f"{seconds % 60:02}" if seconds % 60 else ""
    return f"{sign}{seconds // 3600:02}{seconds // 60 % 60:02}{rest}"
