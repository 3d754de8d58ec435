"""What screens show: bars, grids, counts, progress. Reads only, and decides nothing."""

from scheduling.board.attempts import by_attempt
from scheduling.board.attention import Need, flow, needs, verdicts
from scheduling.board.backfilling import (
    STANDINGS,
    BackfillFilter,
    PlannedKey,
    Progress,
    backfills,
    keys_of,
    progress,
    states_of,
    time_left,
    time_needed,
)
from scheduling.board.bars import Bar, draw
from scheduling.board.cells import NOT_DEFINED, NOT_DUE, Cells, Look, Tally
from scheduling.board.choice import Choice, choose, chosen, example, spelled
from scheduling.board.dags import DagLine, lines, next_ticks, schedule_words, suggestions
from scheduling.board.drawn import Lack
from scheduling.board.excerpts import Excerpt
from scheduling.board.filters import HeldFilter, JournalFilter, RunFilter
from scheduling.board.firing import reason_of, reason_of_end
from scheduling.board.grids import lay_out
from scheduling.board.heat import Heat, measure, number
from scheduling.board.keylists import KeyLine, listed, listed_at
from scheduling.board.lateness import late_among, late_keys
from scheduling.board.lineages import Lineage, Node, Way, lineage
from scheduling.board.lists import HeldPage, Page, events, held_runs, journal, runs
from scheduling.board.narrowing import Dimension, Slice, dimensions_of, spelled_within, within
from scheduling.board.newest import Newest, newest_of
from scheduling.board.owing import Together, together, with_room
from scheduling.board.panels import Facts, Source, facts, made_from
from scheduling.board.peeks import Peek, peek
from scheduling.board.reading import Read, read
from scheduling.board.room import room_for
from scheduling.board.shortness import short_among, short_keys
from scheduling.board.showing import shown_at
from scheduling.board.squares import Grid
from scheduling.board.stretches import Stretch, in_lanes, named, spans, spans_in_lanes

__all__ = [
    "NOT_DEFINED",
    "NOT_DUE",
    "STANDINGS",
    "BackfillFilter",
    "Bar",
    "Cells",
    "Choice",
    "DagLine",
    "Dimension",
    "Excerpt",
    "Facts",
    "Grid",
    "Heat",
    "HeldFilter",
    "HeldPage",
    "JournalFilter",
    "KeyLine",
    "Lack",
    "Lineage",
    "Look",
    "Need",
    "Newest",
    "Node",
    "Page",
    "Peek",
    "PlannedKey",
    "Progress",
    "Read",
    "RunFilter",
    "Slice",
    "Source",
    "Stretch",
    "Tally",
    "Together",
    "Way",
    "backfills",
    "by_attempt",
    "choose",
    "chosen",
    "dimensions_of",
    "draw",
    "events",
    "example",
    "facts",
    "flow",
    "held_runs",
    "in_lanes",
    "journal",
    "keys_of",
    "late_among",
    "late_keys",
    "lay_out",
    "lineage",
    "lines",
    "listed",
    "listed_at",
    "made_from",
    "measure",
    "named",
    "needs",
    "newest_of",
    "next_ticks",
    "number",
    "peek",
    "progress",
    "read",
    "reason_of",
    "reason_of_end",
    "room_for",
    "runs",
    "schedule_words",
    "short_among",
    "short_keys",
    "shown_at",
    "spans",
    "spans_in_lanes",
    "spelled",
    "spelled_within",
    "states_of",
    "suggestions",
    "time_left",
    "time_needed",
    "together",
    "verdicts",
    "with_room",
    "within",
]
