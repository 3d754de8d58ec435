"""How one form of key is written and read back.

A format is compiled once into a `Spelling`. Names of months and days are English whatever the locale, years
have four digits.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from operator import attrgetter

from scheduling.algebra.directives import DIRECTIVES, TELLS, offset_of, told
from scheduling.algebra.errors import InvalidDefinition, InvalidKey
from scheduling.algebra.periods import Grain

SAMPLE = datetime(2026, 3, 10, 9, 37, 51)
"""A time for examples of keys."""

_TOKEN = re.compile(r"%%|\{\{|\}\}|%(.)|\{(quarter)\}|(.)", re.DOTALL)
_ESCAPES = {"%%": "%", "{{": "{", "}}": "}"}

_CLOCK = ("H", "M", "S")
_CLOCK_GRAINS = {"": Grain.DAY, "H": Grain.HOUR, "HM": Grain.MINUTE, "HMS": Grain.SECOND}

# What names a period, finest first, and all that a key of that period may tell besides.
_DAY_TELLS = frozenset({"Y", "m", "d", "j", "G", "V", "u", "U", "W", "quarter"})
_FORMS: tuple[tuple[frozenset[str], Grain, frozenset[str]], ...] = (
    *((frozenset(form), Grain.DAY, _DAY_TELLS) for form in ("Ymd", "Yj", "GVu", "YWu", "YUu")),
    (frozenset("GV"), Grain.WEEK, frozenset("GV")),
    (frozenset("Ym"), Grain.MONTH, frozenset({"Y", "m", "quarter"})),
    (frozenset({"Y", "quarter"}), Grain.QUARTER, frozenset({"Y", "quarter"})),
    (frozenset("Y"), Grain.YEAR, frozenset("Y")),
)
_PLAIN = {"Y": ("04", "year"), "m": ("02", "month"), "d": ("02", "day")} | {
    "H": ("02", "hour"),
    "M": ("02", "minute"),
    "S": ("02", "second"),
}
_ISO = {"%Y-%m-%d": 10, "%Y-%m-%dT%H": 13, "%Y-%m-%dT%H:%M": 16, "%Y-%m-%dT%H:%M:%S": 19}


class Spelling:
    """A compiled format. `grain` is the finest period whose keys it tells apart."""

    def __init__(self, text: str) -> None:
        tokens = _tokens(text)
        self.text = text
        self._directives = [token for token, is_directive in tokens if is_directive]
        self.has_offset = "z" in self._directives
        tells = {TELLS.get(name, name) for name in self._directives} - {"p", "z"}
        _check_directives(text, self._directives)
        self._form, self.grain = _form(text, tells)
        self._pieces = [DIRECTIVES[token][1] if is_directive else token for token, is_directive in tokens]
        pattern = "".join(
            f"({DIRECTIVES[token][0]})" if is_directive else re.escape(token)
            for token, is_directive in tokens
        )
        self._match = re.compile(pattern).fullmatch
        self._template = _template(tokens)

    def read(self, key: str) -> tuple[datetime, timedelta | None]:
        """The wall time that `key` spells, and its offset from UTC if the format has one.

        :raises InvalidKey: unless `write` would spell it so; only an offset may be spelled in several ways.
        """
        found = self._match(key) if isinstance(key, str) else None
        if found is None:
            raise self._refusal(key)
        try:
            wall = _wall(self._form, told(self._directives, found.groups()))
            offset, spelled = offset_of(found.groups(), self._directives)
            if self._write(wall, spelled) != key:
                raise self._refusal(key)
        except (ValueError, OverflowError) as error:
            raise error if isinstance(error, InvalidKey) else self._refusal(key) from None
        return wall, offset

    def write(self, wall: datetime) -> str:
        """The key of a wall time, which is aware if the format has an offset."""
        return self._write(wall, "")

    def _write(self, wall: datetime, offset: str) -> str:
        if self._template is not None:
            text, fields = self._template
            return text % fields(wall)
        zoned = DIRECTIVES["z"][1]
        return "".join(
            [
                piece if isinstance(piece, str) else offset if offset and piece is zoned else piece(wall)
                for piece in self._pieces
            ]
        )

    def _refusal(self, key: object) -> InvalidKey:
        return InvalidKey(f"{key!r} is not a key of the form {self.text}, such as {self.write(SAMPLE)}")


class IsoSpelling(Spelling):
    """The head of an ISO 8601 time: the interpreter reads and writes it several times faster."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._width = _ISO[text]

    def read(self, key: str) -> tuple[datetime, timedelta | None]:
        try:
            wall = datetime.fromisoformat(key)
        except (ValueError, TypeError):
            raise self._refusal(key) from None
        if wall.isoformat()[: self._width] != key:
            raise self._refusal(key)
        return wall, None

    def write(self, wall: datetime) -> str:
        return wall.isoformat()[: self._width]


@lru_cache(maxsize=4096)
def spelling(text: str) -> Spelling:
    """The compiled format.

    :raises InvalidDefinition: for a text that cannot be read back, or that gives two times one name.
    """
    return IsoSpelling(text) if text in _ISO else Spelling(text)


def _tokens(text: str) -> list[tuple[str, bool]]:
    """Literal texts and directives, in order; the flag says which is which."""
    tokens: list[tuple[str, bool]] = []
    for found in _TOKEN.finditer(text):
        directive, quarter, literal = found.groups()
        if quarter or (directive and directive in DIRECTIVES):
            tokens.append((quarter or directive, True))
        elif directive is not None or literal in ("%", "{", "}"):
            raise InvalidDefinition(
                f"{found.group()!r} in the key format {text!r} is neither a directive that can be read back "
                "nor {quarter}; write %% or {{ for the character itself"
            )
        else:
            tokens.append((_ESCAPES.get(found.group(), found.group()), False))
    return tokens


def _form(text: str, tells: set[str]) -> tuple[frozenset[str], Grain]:
    clock = "".join(name for name in _CLOCK if name in tells)
    dated = tells - set(_CLOCK)
    for form, grain, allowed in _FORMS:
        if form <= dated <= allowed and clock in _CLOCK_GRAINS and (not clock or grain is Grain.DAY):
            return form, _CLOCK_GRAINS[clock] if clock else grain
    raise InvalidDefinition(
        f"the key format {text!r} gives several times one name or cannot be read back; "
        "name a whole period, such as %Y-%m-%dT%H, %Y-%m-%d, %G-W%V, %Y-%m, %Y-Q{quarter} or %Y"
    )


def _check_directives(text: str, directives: list[str]) -> None:
    if len(set(directives)) < len(directives):
        raise InvalidDefinition(f"the key format {text!r} has a directive twice")
    if ("I" in directives) != ("p" in directives):
        raise InvalidDefinition(f"the key format {text!r} needs %I and %p together, or %H")


def _template(tokens: list[tuple[str, bool]]) -> tuple[str, Callable[[datetime], object]] | None:
    """One formatting operation instead of many, where every directive is a plain number."""
    if any(is_directive and token not in _PLAIN for token, is_directive in tokens):
        return None
    parts = [
        f"%{_PLAIN[token][0]}d" if is_directive else token.replace("%", "%%")
        for token, is_directive in tokens
    ]
    return "".join(parts), attrgetter(*(_PLAIN[token][1] for token, is_directive in tokens if is_directive))


def _wall(form: frozenset[str], told: Mapping[str, int]) -> datetime:
    clock = time(told.get("H", 0), told.get("M", 0), told.get("S", 0))
    return datetime.combine(_date(form, told), clock)


def _date(form: frozenset[str], told: Mapping[str, int]) -> date:
    if "G" in form:
        return date.fromisocalendar(told["G"], told["V"], told["u"] if "u" in form else 1)
    if "j" in form:
        return date(told["Y"], 1, 1) + timedelta(days=told["j"] - 1)
    if "W" in form or "U" in form:
        return _date_in_week(date(told["Y"], 1, 1), told, "W" if "W" in form else "U")
    month = told["m"] if "m" in form else told["quarter"] * 3 - 2 if "quarter" in form else 1
    return date(told["Y"], month, told["d"] if "d" in form else 1)


def _date_in_week(new_year: date, told: Mapping[str, int], week: str) -> date:
    """Weeks counted from the first Monday (`W`) or Sunday (`U`) of the year; the days before are week 0."""
    first, day = (
        (new_year.weekday(), told["u"] - 1) if week == "W" else (new_year.isoweekday() % 7, told["u"] % 7)
    )
    return new_year + timedelta(days=-first % 7 + (told[week] - 1) * 7 + day)
