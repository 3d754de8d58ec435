"""What filing anew and judging would come to if a Dag listened otherwise. Reads only.

It takes the steps of `refiling.refile` and `holds.judge_due` with the functions that those take, and keeps in
memory what they write. The number of queries does not grow with what is held.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from core.models import AssetEvent, ConsumedEvent, Dag, HeldRun, MappingProblem
from scheduling import excesses, filing, filling, rounds
from scheduling.algebra.verdicts import Verdict
from scheduling.assessing import judge_all
from scheduling.listening import UNKEYED, DagListening
from scheduling.mapping import Arrival, Mapped, map_by
from scheduling.refiling import to_file
from scheduling.tally import Place, Received


@dataclass(frozen=True, slots=True)
class Foreseen:
    """`before`: the open held runs as they are. `after`: those that would be open, by key, each judged.

    `counted` are the events that `before` have counted, `pairs` which of them which; `places` says for what
    keys an event would count, by its primary key. `mapped` are all events that would be filed, with the
    problems of those that could not be; `refused` are those events that had such a problem already. `gone`
    were counted, and have no data any more.
    """

    before: Sequence[HeldRun]
    after: Mapping[str, HeldRun]
    received: Received
    verdicts: Mapping[int, Verdict]
    counted: Sequence[AssetEvent]
    pairs: Mapping[int, Sequence[int]]
    places: Mapping[int, Collection[str]]
    mapped: Mapped
    refused: Collection[int]
    listens_to: Collection[int]
    gone: Collection[Place]

    def moved(self, row: HeldRun) -> tuple[str, ...]:
        """The keys for which what `row`, one of `before`, has counted would count."""
        events = self.pairs.get(row.pk, ())
        return tuple(sorted({key for event in events for key in self.places.get(event, ())}))


def foresee(dag: Dag, heard: DagListening, *, now: datetime) -> Foreseen:
    """What would become of what `dag` holds if it listened as `heard` says."""
    before = list(HeldRun.objects.held().filter(dag=dag).order_by("partition_key"))
    held = ConsumedEvent.objects.filter(held_run__dag=dag, held_run__state=HeldRun.State.HELD)
    pairs: dict[int, list[int]] = defaultdict(list)
    for held_run, event in held.values_list("held_run_id", "event_id"):
        pairs[held_run].append(event)
    counted = Q(pk__in=held.values("event_id"))
    events = to_file(dag, counted, heard.leaf_of.keys())
    mapped = map_by(dag, heard, events)
    rows, arrivals = _rows(dag, heard, before, _arrivals(dag, before, mapped), now)
    places: dict[int, set[str]] = {}
    received = _received(rows, heard, arrivals, places)
    verdicts, dropped = _judged(list(rows.values()), heard, received, now)
    for arrival in arrivals:
        if (
            rows[arrival.key].pk,
            (arrival.event.asset_id, arrival.event.partition_key or UNKEYED),
        ) in dropped:
            places[arrival.event.pk].discard(arrival.key)
    return Foreseen(
        before,
        rows,
        received,
        verdicts,
        _counted(events, pairs, counted, heard),
        pairs,
        {event: keys for event, keys in places.items() if keys},
        mapped,
        set(MappingProblem.objects.filter(dag=dag).values_list("event_id", flat=True)),
        heard.leaf_of.keys(),
        {place for _, place in dropped},
    )


def _arrivals(dag: Dag, before: Iterable[HeldRun], mapped: Mapped) -> list[Arrival]:
    arrivals = rounds.uncounted(mapped.arrivals)
    keys = {row.partition_key for row in before} | {arrival.key for arrival in arrivals}
    return arrivals + excesses.arrivals(mapped.excesses, {(dag.pk, key) for key in keys})


def _counted(
    events: Iterable[AssetEvent], pairs: Mapping[int, Sequence[int]], counted: Q, heard: DagListening
) -> list[AssetEvent]:
    """The events that held runs have counted: those to be filed, and those of assets not listened to."""
    now = {event for counted_by in pairs.values() for event in counted_by}
    others = AssetEvent.objects.filter(counted).exclude(asset__in=heard.leaf_of.keys()).order_by("pk")
    return [*(event for event in events if event.pk in now), *others]


def _rows(
    dag: Dag, heard: DagListening, before: Iterable[HeldRun], arrivals: Sequence[Arrival], now: datetime
) -> tuple[dict[str, HeldRun], list[Arrival]]:
    """The held run of each downstream key that something arrives for; those not open yet are not saved."""
    found = {row.partition_key: row for row in before}
    keys = sorted({arrival.key for arrival in arrivals})
    opened = [(dag.pk, key) for key in keys if key not in found]
    last = rounds.last(opened) if opened else {}
    rows = {key: found[key] for key in keys if key in found}
    for number, name in enumerate(opened, start=1):
        rows[name[1]] = HeldRun(
            pk=-number, dag=dag, partition_key=name[1], round=last.get(name, 0) + 1, opened_at=now
        )
    if filing.only_marks(heard):
        late = rounds.fired_before(rows.values())
        arrivals = [arrival for arrival in arrivals if rows[arrival.key].pk not in late]
        wanted = {arrival.key for arrival in arrivals}
        rows = {key: row for key, row in rows.items() if key in wanted}
    by_name = {(dag.pk, key): row for key, row in rows.items()}
    earlier = {(dag.pk, key): row.last_event_at for key, row in found.items() if key in rows}
    came = filing.came_at(arrivals, earlier)
    for name, row in by_name.items():
        row.dag, row.last_event_at = dag, came[name]
    return dict(sorted(rows.items())), list(arrivals)


def _received(
    rows: Mapping[str, HeldRun],
    heard: DagListening,
    arrivals: Iterable[Arrival],
    places: dict[int, set[str]],
) -> Received:
    """What each held run would have received: what is there, and what arrives; `places` takes where."""
    received: Received = {row.pk: {} for row in rows.values()}
    dags = {row.dag_id: heard for row in rows.values()}
    for row, part, is_fresh in (
        filling.there(list(rows.values()), dags) if filling.needs_several(heard) else ()
    ):
        received[row.pk][part.asset_id, part.key] = is_fresh
        if part.event_id is not None:
            places.setdefault(part.event_id, set()).add(row.partition_key)
    for arrival in arrivals:
        row, event = rows[arrival.key], arrival.event
        key = event.partition_key or UNKEYED
        received[row.pk][event.asset_id, key] = True
        places.setdefault(event.pk, set()).add(row.partition_key)
    return received


def _judged(
    rows: Sequence[HeldRun], heard: DagListening, received: Received, now: datetime
) -> tuple[dict[int, Verdict], set[tuple[int, Place]]]:
    """The verdict on each, and what was dropped of which held run before."""
    dropped = _drop_lost(rows, received)
    dags = dict.fromkeys({row.dag_id for row in rows}, heard)
    return judge_all(rows, dags, received, now=now), dropped


def _drop_lost(rows: Sequence[HeldRun], received: Received) -> set[tuple[int, Place]]:
    """As `rounds.drop_lost`: what has no data any more counts for nothing. What was dropped of which."""
    gone = filling.gone({place for row in rows for place in received[row.pk]})
    lost = {(row.pk, place) for row in rows for place in gone & received[row.pk].keys()}
    for pk, place in lost:
        del received[pk][place]
    return lost
