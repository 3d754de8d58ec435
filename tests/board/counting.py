"""What a page shows, and the same counted row by row."""

from core.models import HeldRun, Partition
from scheduling import drawings, dynamic
from scheduling.algebra import specs
from scheduling.board import Look, read
from scheduling.board.changes import LOOKS
from tests.engine.world import NOW, asset


def shown(name="daily", now=NOW):
    """The look of every key as a page would have it."""
    cells = read([asset(name)], now=now)[asset(name).pk].cells
    found = {place.key: cells.look(at) for at, place in enumerate(cells.places)} | dict(cells.apart)
    assert cells.tally.total + len(cells.unexpected_at) == len(cells.places)
    return found


def counted(name="daily", now=NOW):
    """The look of every key, by a look at every row."""
    row = asset(name)
    held = set(HeldRun.objects.held().filter(dag__outlets__asset=row).values_list("partition_key", flat=True))
    definition = specs.load(row.partitions, "partitions") if row.partitions else None
    found = dict.fromkeys(dynamic.bound(definition).keys(now=now), Look.MISSING) if definition else {}
    for part in Partition.objects.filter(asset=row):
        found[part.key] = LOOKS[part.state, part.is_stale]
    if definition:  # a key that no definition has and no data is none
        bound = set(dynamic.bound(definition).keys(now=now))
        found = {key: look for key, look in found.items() if key in bound or look is not Look.MISSING}
    for key in held:
        if found.get(key, Look.MISSING) is Look.MISSING:
            found[key] = Look.HELD
    return found


def draw_all(now=NOW):
    """Draw until there is nothing to draw."""
    while drawings.draw(now=now):
        pass
