"""Backfills: many partitions on request, planned, started, advanced, steered."""

from scheduling.backfills.advancing import advance, is_due
from scheduling.backfills.asking import (
    Ask,
    BackfillOver,
    CannotBackfill,
    Dates,
    NothingToBackfill,
    Order,
    Reprocess,
    StalePlan,
    TooManyKeys,
    Wanted,
)
from scheduling.backfills.neighbours import Place, places_of
from scheduling.backfills.planning import plan
from scheduling.backfills.plans import Offer, Part, Plan, shown_at
from scheduling.backfills.sizing import size
from scheduling.backfills.starting import start
from scheduling.backfills.steering import cancel, pause, resume, retry_failed, set_limit

__all__ = [
    "Ask",
    "BackfillOver",
    "CannotBackfill",
    "Dates",
    "NothingToBackfill",
    "Offer",
    "Order",
    "Part",
    "Place",
    "Plan",
    "Reprocess",
    "StalePlan",
    "TooManyKeys",
    "Wanted",
    "advance",
    "cancel",
    "is_due",
    "pause",
    "places_of",
    "plan",
    "resume",
    "retry_failed",
    "set_limit",
    "shown_at",
    "size",
    "start",
]
