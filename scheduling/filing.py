"""Counts arrivals into held runs: locks the open one or opens it, and counts what is there already."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime

from core import bulk
from core.models import Dag, HeldRun, Partition, ReceivedKey
from scheduling import filling, listening, rounds, states
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.verdicts import Late
from scheduling.listening import UNKEYED, BrokenDefinition, DagListening
from scheduling.mapping import Arrival, Excess
from scheduling.rounds import Name


def file(arrivals: Sequence[Arrival], now: datetime, *, anew: Collection[int] = ()) -> list[HeldRun]:
    """Count `arrivals` and mark their held runs to be judged. Call inside a transaction.

    :param anew: primary keys of held runs that look again at what is there, as if they were just opened.

    The rows stay locked until it ends, so nothing is counted into a held run that fires meanwhile: whoever
    comes second finds it closed and opens the next round.
    """
    dags = {arrival.dag.pk: arrival.dag for arrival in arrivals}
    rows = _lock_or_open({(arrival.dag.pk, arrival.key) for arrival in arrivals}, dags, now)
    arrivals = _note_late(uncounted(arrivals), rows, now)
    rows = _with_arrivals(rows, arrivals)
    filling.fill([row for row in rows.values() if row.filled_at is None or row.pk in anew], dags)
    _receive(arrivals, rows)
    rounds.consume((rows[arrival.dag.pk, arrival.key].pk, arrival.event.pk) for arrival in arrivals)
    touched = [row.pk for row in rows.values()]
    HeldRun.objects.filter(pk__in=touched).update(judge_after=now, last_event_at=now, filled_at=now)
    return list(rows.values())


def uncounted(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """`arrivals` without those whose event a closed held run of the same Dag and key has counted.

    That is so when the held run was opened and fired between the recording of the event and its mapping: the
    partition had its data by then. Counting it again would be a late key that is not late.
    """
    spent = rounds.spent(arrival.event.pk for arrival in arrivals)
    return [each for each in arrivals if (each.dag.pk, each.key, each.event.pk) not in spent]


def of_open(excesses: Sequence[Excess]) -> list[Arrival]:
    """What events over the limit mean to held runs that are open, which are locked: they open none."""
    names = sorted({(each.dag.pk, key) for each in excesses for key in each.keys})
    found: set[Name] = set()
    for start in range(0, len(names), filling.PORTION):
        found |= _locked(names[start : start + filling.PORTION]).keys()
    return beyond_limit(excesses, found)


def beyond_limit(excesses: Sequence[Excess], opened: Collection[Name]) -> list[Arrival]:
    """`excesses` as arrivals for the held runs of names that are `opened`.

    An event that is not the newest of its partition means nothing here: the newest one counts.
    """
    arrivals = [
        Arrival(each.dag, key, each.event)
        for each in excesses
        for key in each.keys
        if (each.dag.pk, key) in opened
    ]
    if not arrivals:
        return []
    events = {arrival.event.pk for arrival in arrivals}
    newest = Partition.objects.filter(last_event__in=events, data_at__isnull=False)
    newest_events = set(newest.values_list("last_event", flat=True))
    return uncounted([each for each in arrivals if each.event.pk in newest_events])


def only_marks(heard: DagListening | BrokenDefinition) -> bool:
    """Whether late keys count for nothing but to mark what was made without them."""
    return isinstance(heard, DagListening) and heard.listening.late is Late.MARK_STALE


def lock(names: Collection[Name]) -> dict[Name, HeldRun]:
    """The open held runs of those names, locked in the order of names until the transaction ends."""
    return _locked(sorted(names))


def open_filled(names: Collection[Name], dags: dict[int, Dag], now: datetime) -> dict[Name, HeldRun]:
    """The open held run of each name, locked; one that was not there is opened and counts what is there."""
    rows = _lock_or_open(set(names), dags, now)
    opened = [row for row in rows.values() if row.filled_at is None]
    filling.fill(opened, dags, even_if_one_is_enough=True)
    HeldRun.objects.filter(pk__in=[row.pk for row in opened]).update(filled_at=now)
    return rows


def _note_late(arrivals: Sequence[Arrival], rows: Mapping[Name, HeldRun], now: datetime) -> list[Arrival]:
    """Mark stale what was made without the keys that arrive late; keep those that are to be counted.

    A Dag that only marks (`late="mark_stale"`) counts none of them. Its held runs are locked: none fires
    between this look and the end of the transaction.
    """
    late = rounds.fired_before({rows[arrival.dag.pk, arrival.key] for arrival in arrivals})
    by_dag: dict[int, set[str]] = defaultdict(set)
    for row in rows.values():
        if row.pk in late:
            by_dag[row.dag_id].add(row.partition_key)
    for dag_id, keys in sorted(by_dag.items()):
        states.make_stale(dag_id, keys, now)
    heard = listening.of_dags({arrival.dag for arrival in arrivals if arrival.dag.pk in by_dag})
    marking = {dag_id for dag_id, answer in heard.items() if only_marks(answer)}
    return [
        arrival
        for arrival in arrivals
        if not (arrival.dag.pk in marking and arrival.key in by_dag[arrival.dag.pk])
    ]


def _with_arrivals(rows: dict[Name, HeldRun], arrivals: Sequence[Arrival]) -> dict[Name, HeldRun]:
    """`rows` that something arrives for; the others, if just opened, are taken away again."""
    wanted = {(arrival.dag.pk, arrival.key) for arrival in arrivals}
    idle = [row.pk for name, row in rows.items() if name not in wanted and row.filled_at is None]
    HeldRun.objects.filter(pk__in=idle).delete()
    return {name: row for name, row in rows.items() if name in wanted}


def _receive(arrivals: Sequence[Arrival], rows: dict[Name, HeldRun]) -> None:
    received = {}
    for arrival in arrivals:
        row, event = rows[arrival.dag.pk, arrival.key], arrival.event
        name = (row.pk, event.asset_id, event.partition_key or UNKEYED)
        received[name] = (*name, True, event.timestamp)
    fresh = bulk.Replace(("held_run_id", "asset_id", "key"), ("is_fresh", "received_at"))
    bulk.insert(ReceivedKey, filling.RECEIVED, list(received.values()), fresh)


def _lock_or_open(names: set[Name], dags: dict[int, Dag], now: datetime) -> dict[Name, HeldRun]:
    """The open held run of each name, locked. Rows are opened and locked in the order of their names."""
    found: dict[Name, HeldRun] = {}
    while missing := sorted(names - found.keys()):
        found |= _locked(missing)
        absent = [name for name in missing if name not in found]
        if not absent:
            break
        bulk.insert(HeldRun, _OPENED, _next_rounds(absent, dags, now), bulk.Ignore())
        # Not there even now: another worker opened it and it fired in between. Once more.
        found |= _locked(absent)
    return found


def _locked(names: Sequence[Name]) -> dict[Name, HeldRun]:
    rows = HeldRun.objects.held().filter(rounds.any_of(names)).order_by("dag_id", "partition_key")
    return {(row.dag_id, row.partition_key): row for row in rows.select_for_update(no_key=True)}


_OPENED = [each.attname for each in HeldRun._meta.concrete_fields[1:] if not each.generated]


def _next_rounds(names: Sequence[Name], dags: dict[int, Dag], now: datetime) -> list[tuple[object, ...]]:
    last = rounds.last(names)
    heard = listening.of_dags({dags[dag_id] for dag_id, _ in names})
    opened = []
    for dag_id, key in names:
        row = HeldRun(dag_id=dag_id, partition_key=key, opened_at=now, last_event_at=now)
        row.partition_date = _date(heard[dag_id], key)
        row.round = last.get((dag_id, key), 0) + 1
        opened.append(tuple(getattr(row, name) for name in _OPENED))
    return opened


def _date(heard: DagListening | BrokenDefinition, key: str) -> datetime | None:
    """The one instant that the mappers agree on; None if they have none or several."""
    if isinstance(heard, BrokenDefinition):
        return None
    dates = set()
    for mapper in heard.listening.mappers.values():
        try:
            dates.add(mapper.partition_date(key))
        except PartitionError:
            continue
    dates.discard(None)
    return dates.pop() if len(dates) == 1 else None
