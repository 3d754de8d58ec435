"""Asks for the plan of a backfill and starts it, as the page does."""

from tests.web.reading import read

TEN = "[2026-03-01...2026-03-10]"


def plan_of(visitor, **query):
    return read(visitor.get("/backfills/new", {"dag": "load", "selection": TEN} | query))


def send(visitor, page, **changes):
    """Press Start: what is hidden in the form that has the plan goes with it."""
    hidden = page.all("input", type="hidden")
    fields = {each.attributes["name"]: each.attributes["value"] for each in hidden} | changes
    return visitor.post("/backfills/new", fields)
