"""A window of time lies on a mapper that gives instants; rollups and fan-outs refuse all else alike."""

from __future__ import annotations

from scheduling.algebra.errors import InvalidDefinition, MismatchedDefinition
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.temporal import TemporalMapper
from scheduling.algebra.windows import PeriodWindow, Window


def timed(upstream: Mapper, window: Window, *, such_as: str) -> tuple[TemporalMapper, PeriodWindow]:
    """Both, as what they must be if the window is not one of segments.

    :param such_as: the name of a mapper that would do.
    :raises InvalidDefinition: if one of them is something else.
    """
    if not isinstance(window, PeriodWindow):
        raise InvalidDefinition(
            f"{type(window).__name__} is below neither PeriodWindow nor SegmentWindow", path="window"
        )
    if not isinstance(upstream, TemporalMapper):
        raise MismatchedDefinition(
            f"a {type(window).__name__} needs instants and {type(upstream).__name__} gives strings; "
            f"use a mapper such as {such_as}, or a SegmentWindow",
            path="upstream_mapper",
        )
    return upstream, window
