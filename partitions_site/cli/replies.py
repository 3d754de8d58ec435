"""What a command answers: one value for programs, lines for people, and how it exits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """`value` is what `--json` prints; `lines` what is printed otherwise. `code` 1: something is wrong."""

    value: Any
    lines: Sequence[str] = field(default=())
    code: int = 0


def table(rows: Sequence[Row], columns: Mapping[str, str], none: str) -> Reply:
    """Rows under the headings of `columns` (heading by name of the value), or the sentence `none`."""
    if not rows:
        return Reply([], [none])
    cells = [list(columns.values()), *([_cell(row.get(name)) for name in columns] for row in rows)]
    widths = [max(len(line[at]) for line in cells) for at in range(len(columns))]
    lines = [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
    return Reply(list(rows), lines)


def none_of(things: str, *narrowed_by: object) -> str:
    """What a list of no `things` says: `such` ones are meant if it was narrowed by anything."""
    return f"There are no {'such ' if any(narrowed_by) else ''}{things}."


def sheet(row: Row, lines: Sequence[str] = ()) -> Reply:
    """One thing: a line for each of its values, and `lines` below."""
    width = max(len(name) for name in row)
    return Reply(row, [*(f"{name.ljust(width)}  {_cell(value)}" for name, value in row.items()), *lines])


def done(sentence: str, value: Any = None) -> Reply:
    return Reply({"done": sentence} if value is None else value, [sentence])


def shown(at: datetime | None) -> str | None:
    """An instant in UTC, as keys and addresses write it."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z") if at else None


def printable(text: str) -> str:
    """A key or sentence that somebody wrote must not move the cursor of whoever reads it."""
    return text if text.isprintable() else text.encode("unicode_escape").decode()


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{count:,} {name}" for name, count in value.items() if count) or "-"
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "-"
    return printable(str(value))
