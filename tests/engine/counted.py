"""Lists of few rows that lie in several blocks, and whether their counts are right."""

from datetime import timedelta

from django.db.models import Q

from core import counting
from core.models.counts import BLOCK
from tests.engine.world import NOW

HOUR = timedelta(hours=1)
SPREAD = BLOCK // 3
"""Between two primary keys, so that a few rows lie in several blocks."""


def right(rows):
    """Whether the counts tell how many `rows` there are."""
    return counting.known(rows) == rows.count()


def ranges(*columns):
    """Spans of time that begin, end or lie between rows, or before and after all of them."""
    for column in columns:
        for hours in (-1, 7, 7.5, 100):
            at = NOW + hours * HOUR
            yield from (Q(**{f"{column}__{compared}": at}) for compared in ("gte", "gt", "lte", "lt"))
        yield Q(**{f"{column}__gte": NOW + 3 * HOUR, f"{column}__lt": NOW + 11 * HOUR})
