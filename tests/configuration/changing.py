"""Somebody who changes how a Dag listens."""

from core.models import Dag
from scheduling import configuration
from scheduling.configuration import change_schedule, previewing
from scheduling.journal import Deed
from tests.sdk.writing import LATER

BOB = Deed(by="bob", via="web", reason="one hour never comes on Sundays")


def change(row: Dag, *, deed: Deed = BOB, at=LATER, revision: int | None = None, **fields: object) -> bool:
    """Change some fields of the schedule of `row`; None takes one away."""
    revision = row.revision if revision is None else revision
    return change_schedule(row, _changed(row, fields), deed=deed, at=at, revision=revision)


def look(row: Dag, *, most: int = previewing.MOST_NAMED, **fields: object) -> configuration.Preview:
    """What that change would do, foreseen."""
    row.refresh_from_db()
    return configuration.preview(row, _changed(row, fields), now=LATER, most=most)


def rollup(*segments: str) -> dict[str, object]:
    return {
        "type": "RollupMapper",
        "upstream_mapper": {"type": "FixedKeyMapper", "downstream_key": "all"},
        "window": {"type": "SegmentWindow", "segments": list(segments)},
    }


def _changed(row: Dag, fields: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in (row.schedule | fields).items() if value is not None}
