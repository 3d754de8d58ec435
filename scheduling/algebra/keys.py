"""Partition keys: what may be one, how segments are joined, and formats that both read and write times."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timezone
from zoneinfo import ZoneInfo

from scheduling.algebra.errors import InvalidDefinition, InvalidKey, PartitionError
from scheduling.algebra.formats import SAMPLE, IsoSpelling, Spelling, spelling
from scheduling.algebra.periods import Grain, floor_wall, instants_of, start_at, start_of, starts_at

MAX_KEY_LENGTH = 250
DEFAULT_DELIMITER = "|"

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def validate_key(key: object) -> str:
    """`key` itself, if it can be a partition key.

    :raises InvalidKey: if it is not text, empty, longer than 250 characters, holds control characters or is
        wrapped in white space.
    """
    if not isinstance(key, str):
        raise InvalidKey(f"a partition key is text, not {type(key).__name__}")
    if not key:
        raise InvalidKey("a partition key cannot be empty")
    if len(key) > MAX_KEY_LENGTH:
        raise InvalidKey(f"a partition key has at most {MAX_KEY_LENGTH} characters; this one has {len(key)}")
    if key[0].isspace() or key[-1].isspace():
        raise InvalidKey(f"a partition key cannot start or end with white space: {key!r}")
    if _UNPRINTABLE.search(key):
        raise InvalidKey(f"a partition key cannot hold control characters: {key!r}")
    return key


def validate_delimiter(delimiter: object) -> str:
    """`delimiter` itself, if it can join segments.

    :raises InvalidDefinition: if it is empty, not text, or holds the backslash that escapes.
    """
    if (
        isinstance(delimiter, str)
        and delimiter
        and "\\" not in delimiter
        and not _UNPRINTABLE.search(delimiter)
    ):
        return delimiter
    raise InvalidDefinition(
        f"{delimiter!r} cannot join segments; use printable text without a backslash, such as |"
    )


def distinct_keys(value: object, role: str) -> tuple[str, ...]:
    """A list of keys without repetitions, in the order given; `role` says whose.

    :raises InvalidDefinition: if it is empty, or no list, or holds something that cannot be a key.
    """
    if isinstance(value, str | dict) or not isinstance(value, Iterable):
        raise InvalidDefinition(f"{role} takes a list of keys, not {value!r}")
    keys = tuple(dict.fromkeys(definable_key(key, role) for key in value))
    if not keys:
        raise InvalidDefinition(f"{role} needs at least one key")
    return keys


def definable_key(key: object, role: str) -> str:
    """`key` itself, if it can be a key in a definition.

    :raises InvalidDefinition: otherwise.
    """
    try:
        return validate_key(key)
    except InvalidKey as error:
        raise InvalidDefinition(f"{role} cannot take {key!r}: {error}") from None


def join_segments(segments: Iterable[str], delimiter: str = DEFAULT_DELIMITER) -> str:
    """One composite key; where a segment would be cut, the first character of the delimiter is escaped."""
    segments = tuple(segments)
    joined = delimiter.join(segments)
    if "\\" not in joined and tuple(joined.split(delimiter)) == segments:
        return joined
    joined = delimiter.join([_escaped(segment, delimiter, delimiter) for segment in segments])
    if split_segments(joined, delimiter) == segments:
        return joined
    return delimiter.join([_escaped(segment, delimiter, delimiter[0]) for segment in segments])


def split_segments(key: str, delimiter: str = DEFAULT_DELIMITER) -> tuple[str, ...]:
    """The segments that `join_segments` joined; a backslash that escapes nothing stands for itself."""
    if "\\" not in key:
        return tuple(key.split(delimiter))
    segments = [""]
    position = 0
    while position < len(key):
        if key[position] == "\\" and key[position + 1 : position + 2] in ("\\", delimiter[0]):
            segments[-1] += key[position + 1]
            position += 2
        elif key.startswith(delimiter, position):
            segments.append("")
            position += len(delimiter)
        else:
            segments[-1] += key[position]
            position += 1
    return tuple(segments)


@dataclass(frozen=True, slots=True)
class KeyFormat:
    """One form of key that names a time: `strftime` directives, `{quarter}` and literal text.

    Every key that it writes it reads back. `grain` is the finest period whose keys it tells apart.

    :raises InvalidDefinition: for a text that cannot be read back, or that gives two times one name.
    """

    text: str
    grain: Grain = field(init=False, repr=False, compare=False)
    has_offset: bool = field(init=False, repr=False, compare=False)
    _spelling: Spelling = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidDefinition(f"a key format is text such as %Y-%m-%d, not {self.text!r}")
        found = spelling(self.text)
        object.__setattr__(self, "_spelling", found)
        object.__setattr__(self, "grain", found.grain)
        object.__setattr__(self, "has_offset", found.has_offset)

    @property
    def is_iso(self) -> bool:
        """Whether it is the head of an ISO 8601 time without an offset."""
        return isinstance(self._spelling, IsoSpelling)

    @property
    def example(self) -> str:
        """A key of this form, for sentences."""
        return self._spelling.write(SAMPLE)

    def parse(self, key: str, zone: ZoneInfo) -> datetime:
        """The instant, in UTC, at which the period that `key` names starts.

        Exactly the keys that `format` writes are read. A repeated time without an offset is its first.

        :raises InvalidKey: for any other spelling, and for a time that clocks in `zone` skip.
        """
        try:
            return self._parsed(key, zone)
        except OverflowError:
            raise InvalidKey(f"{key!r} is beyond the calendar") from None

    def format(self, instant: datetime, zone: ZoneInfo) -> str:
        """The key of the period that holds `instant`."""
        return self.spell(instant.astimezone(zone).replace(tzinfo=None), zone)

    def read(self, key: str, zone: ZoneInfo) -> datetime:
        """The wall time in `zone` that `key` names, naive, whether or not clocks ever show it.

        `fold` says which of a repeated one. With `%z` any offset is taken, in any spelling of it.

        :raises InvalidKey: for any other spelling than `format` writes.
        """
        wall, offset = self._spelling.read(key)
        if offset is None:
            return wall
        return wall.replace(tzinfo=timezone(offset)).astimezone(zone).replace(tzinfo=None)

    def spell(self, wall: datetime, zone: ZoneInfo) -> str:
        """The key of a naive wall time in `zone`, where `fold` says which of a repeated one.

        The offset is the one at the start of the period, as clocks showed it just before any change.
        """
        if self.has_offset:
            wall = floor_wall(self.grain, wall).replace(tzinfo=zone)
        return self._spelling.write(wall)

    def _parsed(self, key: str, zone: ZoneInfo) -> datetime:
        try:
            wall, offset = self._spelling.read(key)
        except InvalidKey as refusal:
            raise self._explained(refusal, key, zone) from None
        if offset is None:
            start = start_at(self.grain, wall, zone)
            if start is None:
                raise InvalidKey(f"{key!r} does not exist in {zone.key}: clocks skip it")
            return start
        instant = (wall - offset).replace(tzinfo=UTC)
        # Where clocks skip the start of an hour but not all of it, its key names an instant of another one.
        for start in (start_of(self.grain, instant, zone), *starts_at(self.grain, wall, zone)):
            if self.format(start, zone) == key:
                return start
        raise InvalidKey(f"{key!r} is written {self.format(instant, zone)} in {zone.key}")

    def _explained(self, refusal: InvalidKey, key: object, zone: ZoneInfo) -> InvalidKey:
        """Name the keys that somebody who left out the offset may have meant."""
        if not self.has_offset or not isinstance(key, str):
            return refusal
        try:
            wall, _ = spelling(self.text.replace("%z", "")).read(key)
        except PartitionError:
            return refusal
        found = [self.format(instant, zone) for instant in instants_of(wall, zone)]
        if not found:
            return InvalidKey(f"{key!r} does not exist in {zone.key}: clocks skip it")
        if len(found) == 1:
            return InvalidKey(f"{key!r} lacks its offset from UTC; write {found[0]}")
        return InvalidKey(f"{key!r} is ambiguous in {zone.key}; write {' or '.join(found)}")


def _escaped(segment: str, delimiter: str, target: str) -> str:
    """`segment` with a backslash before every `target`, and backslashes doubled where they would escape."""
    if "\\" in segment:
        ambiguous = rf"\\+(?=$|{re.escape(delimiter[0])})|\\{{2,}}"
        segment = re.sub(ambiguous, lambda found: found.group() * 2, segment)
    return segment.replace(target, "\\" + target)
