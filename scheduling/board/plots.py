"""The plot of a number over the keys on a board: a line for each combination of segments beside time."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from scheduling.board.squares import Cell, Grid

MOST_LINES = 8
"""Lines that one still tells apart."""

HEIGHT = 100


@dataclass(frozen=True, slots=True)
class Line:
    """The values of some keys in their order, none where a key lacks the number.

    All lines of a plot have the scale from `least` to `most`, and the `middle` of all.
    """

    name: str
    values: Mapping[str, float | None]
    far: Collection[str]
    least: float
    middle: float
    most: float

    @property
    def ends(self) -> tuple[str, str]:
        """The first and the last key."""
        keys = list(self.values)
        return keys[0], keys[-1]

    @property
    def steps(self) -> str:
        """The path of an SVG: one unit to the right for each key, interrupted where there is no number."""
        path, is_open = [], False
        for at, value in enumerate(self.values.values()):
            if value is not None:
                path.append(f"{'V' if is_open else f'M{at} '}{self._height(value)}H{at + 1}")
            is_open = value is not None
        return "".join(path)

    @property
    def far_out(self) -> str:
        """The path of the outliers alone."""
        found = [(at, value) for at, (key, value) in enumerate(self.values.items()) if key in self.far]
        return "".join(f"M{at} {self._height(value)}h1" for at, value in found if value is not None)

    @property
    def level(self) -> str:
        """The path of the median."""
        return f"M0 {self._height(self.middle)}H{len(self.values)}"

    def _height(self, value: float) -> str:
        if self.most <= self.least:
            return f"{HEIGHT / 2:g}"
        return f"{HEIGHT - HEIGHT * (value - self.least) / (self.most - self.least):.3g}"


def lanes_of(grid: Grid) -> dict[str, list[Cell]]:
    """The squares of a grid by what their keys have beside time; by the first segments without time."""
    lanes: dict[str, list[Cell]] = {}
    for group in grid.groups:
        for row in group.rows:
            name = group.head or ("" if grid.is_line or grid.is_named else row.head)
            lanes.setdefault(name, []).extend(cell for box in row.boxes for cell in box)
    return lanes


def lines_of(
    lanes: Mapping[str, Sequence[str]],
    values: Mapping[str, float | None],
    far: Collection[str],
    scale: tuple[float, float, float],
) -> list[Line]:
    """A line for each lane of which some key has the number: its keys among `values`, in their order.

    :param scale: the least, the middle and the most of all values.
    """
    found = {name: {key: values[key] for key in keys if key in values} for name, keys in lanes.items()}
    return [
        Line(name, part, far, *scale)
        for name, part in found.items()
        if any(value is not None for value in part.values())
    ]
