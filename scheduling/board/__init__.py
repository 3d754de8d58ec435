"""What screens show: bars, grids, counts, progress. Reads only, and decides nothing."""

from scheduling.board.attention import Need, flow, needs, verdicts
from scheduling.board.bars import Bar, draw
from scheduling.board.cells import Cells, Look, Tally
from scheduling.board.dags import DagLine, lines, next_ticks, schedule_words, suggestions
from scheduling.board.grids import Grid, lay_out
from scheduling.board.lists import HeldFilter, JournalFilter, Page, RunFilter, held_runs, journal, runs
from scheduling.board.panels import Facts, facts, made_from
from scheduling.board.reading import Read, read

__all__ = [
    "Bar",
    "Cells",
    "DagLine",
    "Facts",
    "Grid",
    "HeldFilter",
    "JournalFilter",
    "Look",
    "Need",
    "Page",
    "Read",
    "RunFilter",
    "Tally",
    "draw",
    "facts",
    "flow",
    "held_runs",
    "journal",
    "lay_out",
    "lines",
    "made_from",
    "needs",
    "next_ticks",
    "read",
    "runs",
    "schedule_words",
    "suggestions",
    "verdicts",
]
