"""Keeps what a Dag could not count, for its page, the event's and the journal."""

from collections.abc import Sequence
from datetime import datetime

from core.models import MappingProblem
from scheduling import journal
from scheduling.mapping import Problem


def keep(problems: Sequence[Problem], *, at: datetime) -> None:
    """Keep each of `problems` until somebody has read it; one for an event and a Dag."""
    MappingProblem.objects.bulk_create(
        [
            MappingProblem(
                event_id=each.event.pk, dag=each.dag, kind=each.kind, sentence=each.sentence, at=at
            )
            for each in problems
        ],
        ignore_conflicts=True,
    )
    journal.note_all(
        [
            journal.entry(
                each.kind,
                at=at,
                about=each.dag,
                key=each.event.partition_key,
                asset=each.event.asset_id,
                event_id=each.event.pk,
                sentence=each.sentence,
            )
            for each in problems
        ]
    )
