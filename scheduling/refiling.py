"""Files anew what the open held runs of a Dag have received, when the Dag listens otherwise than before.

1. Every event that they have counted is mapped again, and with them those that could not be mapped before.
2. Each is counted where it belongs now. A held run that stays counts what is there of what it requires now.
3. A held run for which nothing is left is superseded. What cannot be mapped any more is shown as a problem.

What has fired stays fired: only events that no run has consumed move.
"""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q

from core import locks
from core.models import AssetEvent, ConsumedEvent, Dag, HeldRun, MappingProblem, ReceivedKey
from scheduling import complaints, excesses, filing, journal, listening, rounds
from scheduling.journal import Deed
from scheduling.listening import BrokenDefinition
from scheduling.mapping import Problem, map_for


@transaction.atomic
def refile(dag: Dag, *, deed: Deed, at: datetime) -> int:
    """File anew what the open held runs of `dag` have received; how many of them were superseded."""
    locks.hold_listening(dag.pk)
    if isinstance(listening.of_dags([dag])[dag.pk], BrokenDefinition):
        return 0
    open_runs = HeldRun.objects.held().filter(dag=dag).order_by("partition_key")
    pks = list(open_runs.select_for_update(no_key=True).values_list("pk", flat=True))
    events = _take_out(dag, pks)
    mapped = map_for(dag, events)
    _settle_problems(dag, events, mapped.problems, at)
    arrivals = rounds.uncounted(mapped.arrivals)
    kept = {row.pk for row in filing.file(arrivals, at, anew=pks)} if arrivals else set()
    opened = rounds.lock(excesses.names(mapped.excesses))
    if beyond := excesses.arrivals(mapped.excesses, opened):
        kept |= {row.pk for row in filing.file(beyond, at, anew=set(pks) - kept)}
    empty = set(pks) - kept
    HeldRun.objects.filter(pk__in=empty).update(
        state=HeldRun.State.SUPERSEDED, closed_at=at, closed_by=deed.by, judge_after=None
    )
    if empty:
        journal.note("held runs filed anew", deed=deed, at=at, about=dag, superseded=len(empty))
    return len(empty)


def to_file(dag: Dag, counted: Q, assets: Collection[int]) -> list[AssetEvent]:
    """The events of `assets` to file anew, oldest first: `counted` ones, and those that had a problem."""
    unmapped = Q(problems__dag=dag, partition_key__isnull=False)
    found = AssetEvent.objects.filter(counted | unmapped, asset__in=assets).distinct()
    return list(found.only("asset_id", "partition_key", "timestamp").order_by("pk"))


def _take_out(dag: Dag, pks: Collection[int]) -> list[AssetEvent]:
    """The events that held runs have counted, taken from them, and those that had a problem."""
    heard = {pk for pk in dag.dependencies.values_list("asset_id", flat=True) if pk is not None}
    events = to_file(dag, Q(consumers__held_run__in=pks), heard)
    ReceivedKey.objects.filter(held_run__in=pks).delete()
    ConsumedEvent.objects.filter(held_run__in=pks).delete()
    return events


def _settle_problems(
    dag: Dag, events: Sequence[AssetEvent], problems: Sequence[Problem], at: datetime
) -> None:
    """Problems that are none any more are gone; those that are new are shown."""
    before = MappingProblem.objects.filter(dag=dag, event__in=events)
    still = {each.event.pk for each in problems}
    known = set(before.values_list("event_id", flat=True))
    before.exclude(event__in=still).delete()
    complaints.keep([each for each in problems if each.event.pk not in known], at=at)
