"""A number of the partitions shown: the tint of each square, which values stand far out, a plot."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from statistics import median, quantiles
from typing import Any

from core.models import Asset, Partition
from scheduling.algebra.keys import DEFAULT_DELIMITER
from scheduling.algebra.selections import quoted
from scheduling.board.cells import Look
from scheduling.board.labels import segments_of
from scheduling.board.plots import MOST_LINES, Line, lanes_of, lines_of
from scheduling.board.squares import Grid

STEPS = 6
"""Tints of one colour, 1 for the least."""

MOST = 3000
"""Partitions that are read at most: the newest of those shown."""

SAMPLE = 50
"""Partitions in which fields are looked for while none is chosen."""

FEW = 5
"""Partitions by which is told what there is inside periods."""

MOST_FIELDS = 12

MOST_NUMBERS, DEEPEST = 200, 3
"""Numbers of one partition that are looked at, and how deep in it."""

LARGEST = 1e300
"""Larger numbers are not measured: their differences could not be."""

FAR = 3
"""Ranges between the quartiles from which on a value stands out."""

FEWEST = 8
"""Values among which one can stand out."""

MOST_LINKED = 50
"""Keys that one link selects."""

EMPTY = (Look.MISSING, Look.HELD)
"""Looks of what has no row to be read."""


@dataclass(frozen=True, slots=True)
class Heat:
    """A number of the partitions shown: `fields` can be chosen, `name` is, if one of those is asked for.

    `values` are in the order of the squares, none where a key lacks the number. `tints` are 1 to `STEPS`, 0
    for one without; `outliers` are the keys whose values stand far out, in order. `lines` are its plot.
    `is_deeper`: the squares shown are periods; inside them are single partitions with these fields.
    """

    fields: Sequence[str]
    name: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)
    tints: Mapping[str, int] = field(default_factory=dict)
    outliers: Sequence[str] = ()
    least: float = 0
    middle: float = 0
    most: float = 0
    is_deeper: bool = False
    lines: Sequence[Line] = ()

    @property
    def count(self) -> int:
        """Partitions that have the number."""
        return sum(value is not None for value in self.values.values())

    @property
    def words(self) -> str:
        """The plot in words."""
        least, middle, most = map(number, (self.least, self.middle, self.most))
        return f"least {least}, median {middle}, most {most}"

    @property
    def selection(self) -> str:
        """The first outliers as a selection; empty if one of them has to be written in quotation marks."""
        keys = self.outliers[:MOST_LINKED]
        parts = (part for key in keys for part in segments_of(key))
        return ", ".join(keys) if all(quoted(part, DEFAULT_DELIMITER) == part for part in parts) else ""

    @property
    def drawn(self) -> Sequence[Line]:
        """The lines that there is room for."""
        return self.lines[:MOST_LINES]

    @property
    def left_off(self) -> int:
        return len(self.lines) - len(self.drawn)


def measure(asset: Asset, grid: Grid | None, wanted: str = "") -> Heat | None:
    """The number `wanted` of the single partitions on a grid; none where they have no numbers. One query.

    While none is wanted, only the fields of the newest `SAMPLE` are looked up. Of a grid of periods it says
    which numbers the newest partitions in them have.
    """
    lanes = lanes_of(grid) if grid else {}
    every = [cell for lane in lanes.values() for cell in lane]
    cells = [cell for cell in every if cell.key]
    if every and not cells:
        return _deeper(asset)
    with_rows = [cell.key for cell in cells if cell.look not in EMPTY]
    if not with_rows:
        return None
    keys = with_rows[-MOST if wanted else -SAMPLE :]
    rows = dict(Partition.objects.filter(asset=asset, key__in=keys).values_list("key", "extra"))
    numbers = {key: numbers_of(extra) for key, extra in rows.items()}
    counts = Counter(name for found in numbers.values() for name in found)
    if not counts:
        return None
    fields = [name for name, _ in sorted(counts.items(), key=lambda each: (-each[1], each[0]))][:MOST_FIELDS]
    if wanted not in counts:
        return Heat(sorted(fields))
    found = {cell.key: numbers.get(cell.key, {}).get(wanted) for cell in cells[-MOST:]}
    heat = _measured(sorted({*fields, wanted}), wanted, found)
    keys_of = {name: [cell.key for cell in lane if cell.key] for name, lane in lanes.items()}
    scale = heat.least, heat.middle, heat.most
    return replace(heat, lines=lines_of(keys_of, heat.values, frozenset(heat.outliers), scale))


def number(value: float) -> str:
    """As people write it: whole numbers whole, others to four digits."""
    if abs(value) >= 1e15:
        return f"{value:.4g}"
    if value == int(value):
        return f"{value:,.0f}"
    return f"{value:,.1f}" if abs(value) >= 1000 else f"{value:.4g}"


def numbers_of(extra: Any) -> dict[str, float]:
    """The fields of a partition that are numbers: true is none. Nested ones are called `stats.rows`."""
    return dict(islice(_flat(extra, ""), MOST_NUMBERS))


def far_out_of(values: Mapping[str, float]) -> list[str]:
    """The keys whose values lie more than `FAR` ranges between the quartiles outside of these.

    Where the quartiles are the same, most values are: the others stand out if they are at most a tenth.
    """
    if len(values) < FEWEST:
        return []
    low, _, high = quantiles(values.values(), n=4, method="inclusive")
    room = FAR * (high - low)
    far = [key for key, value in values.items() if not low - room <= value <= high + room]
    return far if room or 10 * len(far) <= len(values) else []


def _deeper(asset: Asset) -> Heat | None:
    """The fields that one finds inside the periods; none if their partitions have no numbers."""
    newest = Partition.objects.filter(asset=asset, data_at__isnull=False)
    dated = newest.filter(partition_date__isnull=False).order_by("-partition_date")
    extras = dated.values_list("extra", flat=True)[:FEW]
    fields = sorted({name for extra in extras for name in numbers_of(extra)})
    return Heat(fields[:MOST_FIELDS], is_deeper=True) if fields else None


def _measured(fields: Sequence[str], name: str, found: Mapping[str, float | None]) -> Heat:
    known = {key: value for key, value in found.items() if value is not None}
    far = far_out_of(known)
    usual = known.keys() - frozenset(far)
    low, high = min(known[key] for key in usual), max(known[key] for key in usual)
    return Heat(
        fields,
        name,
        found,
        {key: 0 if value is None else _tint(value, low, high) for key, value in found.items()},
        far,
        min(known.values()),
        median(known.values()),
        max(known.values()),
    )


def _tint(value: float, low: float, high: float) -> int:
    """Outliers do not stretch the steps: they have the first or the last."""
    if high <= low:
        return 1 if value < low else STEPS if value > high else (STEPS + 1) // 2
    share = (min(max(value, low), high) - low) / (high - low)
    return min(1 + int(STEPS * share), STEPS)


def _flat(extra: Any, within: str) -> Iterator[tuple[str, float]]:
    if not isinstance(extra, dict) or within.count(".") >= DEEPEST:
        return
    for name, value in extra.items():
        if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST:
            yield f"{within}{name}", float(value)
        else:
            yield from _flat(value, f"{within}{name}.")
