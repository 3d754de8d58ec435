"""Somebody who changes how a Dag listens."""

from core.models import Dag
from scheduling.configuration import change_schedule
from scheduling.journal import Deed
from tests.sdk.writing import LATER

BOB = Deed(by="bob", via="web", reason="one hour never comes on Sundays")


def change(row: Dag, *, deed: Deed = BOB, at=LATER, revision: int | None = None, **fields: object) -> bool:
    """Change some fields of the schedule of `row`; None takes one away."""
    spec = {name: value for name, value in (row.schedule | fields).items() if value is not None}
    revision = row.revision if revision is None else revision
    return change_schedule(row, spec, deed=deed, at=at, revision=revision)
