"""Counts arrivals into held runs: locks the open one or opens it, and counts what is there already."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from core import bulk
from core.models import Dag, HeldRun
from scheduling import excesses, filling, listening, opening, rounds, states
from scheduling.algebra.verdicts import Late
from scheduling.listening import UNKEYED, BrokenDefinition, DagListening
from scheduling.mapping import Arrival, Mapped
from scheduling.rounds import Name
from scheduling.tally import Tally


class Overtaken(Exception):
    """Somebody else has opened one of the held runs meanwhile: begin anew, and it is there."""


@dataclass(frozen=True, slots=True)
class Filed:
    """The held runs that something arrives for, and what they count; nothing of it is written yet.

    `stale` are the names whose runs were made without what arrives.
    """

    rows: Sequence[HeldRun]
    tally: Tally
    stale: Collection[Name] = ()

    def and_also(self, other: "Filed") -> "Filed":
        rows = {(row.dag_id, row.partition_key): row for row in (*self.rows, *other.rows)}
        tally = self.tally.and_also(other.tally)
        return Filed([rows[name] for name in sorted(rows)], tally, {*self.stale, *other.stale})

    def write_counts(self, now: datetime) -> None:
        self.tally.write()
        keys_of: dict[int, set[str]] = defaultdict(set)
        for dag_id, key in self.stale:
            keys_of[dag_id].add(key)
        states.make_stale(keys_of, now)


def arrange(mapped: Mapped, now: datetime) -> Filed:
    """Count what arrives without writing. Call inside a transaction, and `write` at its end.

    Held runs that are open stay locked until it ends, so nothing is counted into one that fires meanwhile:
    whoever comes second finds it closed and opens the next round. Those that are not open yet are not saved.

    :raises Overtaken: if somebody else has opened one of those meanwhile.
    """
    dags = {arrival.dag.pk: arrival.dag for arrival in mapped.arrivals}
    dags |= {excess.dag.pk: excess.dag for excess in mapped.excesses}
    names = {(arrival.dag.pk, arrival.key) for arrival in mapped.arrivals}
    opened = rounds.lock(names | excesses.names(mapped.excesses) | rounds.open_of(mapped.woken))
    absent = sorted(names - opened.keys())
    rows = opened | dict(zip(absent, opening.next_rounds(absent, dags, now), strict=True))
    if rounds.are_open([name for name in absent if rows[name].round > 1]):
        raise Overtaken  # opened since we looked: the round after it must not fire above it
    filed = _counted(mapped.arrivals, rows, dags, now)
    if mapped.excesses:
        opened |= {(row.dag_id, row.partition_key): row for row in filed.rows}
        filed = filed.and_also(_counted(excesses.arrivals(mapped.excesses, opened), opened, dags, now))
        filed = filed.and_also(Filed([], Tally(), excesses.outdated(mapped.excesses, opened)))
    for row in filed.rows:
        row.dag = dags[row.dag_id]
    return filed


def write(filed: Filed, columns: Sequence[str], now: datetime) -> None:
    """Save those of `filed` that are new, and `columns` of the others.

    :raises Overtaken: if a new one is there by now. Roll back then.
    """
    fresh = [row for row in filed.rows if row._state.adding]
    if opening.insert(fresh) < len(fresh):
        raise Overtaken
    saved = [row for row in filed.rows if not row._state.adding]
    bulk.update(HeldRun, columns, opening.values_of(saved, ("id", *columns)))
    filed.write_counts(now)


def file(arrivals: Sequence[Arrival], now: datetime, *, anew: Collection[int] | None = None) -> list[HeldRun]:
    """Count `arrivals` and mark their held runs to be judged. Call inside a transaction.

    :param anew: if they came before and are filed anew: the primary keys of the held runs that counted them.
        Those look again at what is there, as if they were just opened, and nothing settles any longer for it.
    """
    dags = {arrival.dag.pk: arrival.dag for arrival in arrivals}
    rows = opening.lock_or_open({(arrival.dag.pk, arrival.key) for arrival in arrivals}, dags, now)
    again = () if anew is None else anew
    before = {name: row.last_event_at for name, row in rows.items() if row.pk in again}
    filed = _counted(arrivals, rows, dags, now, again)
    touched = {row.pk for row in filed.rows}
    idle = [row.pk for row in rows.values() if row.pk not in touched and row.filled_at is None]
    HeldRun.objects.filter(pk__in=idle).delete()
    filed.write_counts(now)
    # Without a sentence they count as not judged yet: what was counted anew may be gone by now.
    HeldRun.objects.filter(pk__in=touched).update(
        judge_after=now, last_event_at=now, filled_at=now, sentence=""
    )
    if anew is not None:
        held_run = {name: row.pk for name, row in rows.items()}
        events = filed.tally.events
        counted = [each for each in arrivals if (held_run[each.dag.pk, each.key], each.event.pk) in events]
        came = came_at(counted, before).items()
        bulk.update(HeldRun, ("last_event_at",), [(held_run[name], at) for name, at in came])
    return list(filed.rows)


def came_at(arrivals: Sequence[Arrival], before: Mapping[Name, datetime]) -> dict[Name, datetime]:
    """When the last event came that counts for each held run. Filing anew is no event.

    :param before: when it had come for those that were open before.
    """
    came = dict(before)
    for arrival in arrivals:
        name, at = (arrival.dag.pk, arrival.key), arrival.event.timestamp
        came[name] = max(came.get(name, at), at)
    return came


def only_marks(heard: DagListening | BrokenDefinition) -> bool:
    """Whether late keys count for nothing but to mark what was made without them."""
    return isinstance(heard, DagListening) and heard.listening.late is Late.MARK_STALE


def _counted(
    arrivals: Sequence[Arrival],
    rows: Mapping[Name, HeldRun],
    dags: dict[int, Dag],
    now: datetime,
    anew: Collection[int] = (),
) -> Filed:
    """What `arrivals` come to, in `rows`; those that nothing is counted into are left out."""
    mapped = {arrival.event.pk for arrival in arrivals}
    arrivals, stale = _part_late(_unspent(arrivals, rows), rows)
    wanted = {(arrival.dag.pk, arrival.key): rows[arrival.dag.pk, arrival.key] for arrival in arrivals}
    tally = filling.fill([row for row in wanted.values() if row.filled_at is None or row.pk in anew], dags)
    for arrival in arrivals:
        held_run, event = rows[arrival.dag.pk, arrival.key].pk, arrival.event
        tally.add(held_run, (event.asset_id, event.partition_key or UNKEYED), True, event.timestamp)
        tally.events[held_run, event.pk] = None
    came = [(rows[each.dag.pk, each.key], each.event) for each in arrivals]
    tally.events.update((pair, None) for pair in filling.overtaken(came, mapped))
    for row in wanted.values():
        row.last_event_at = row.filled_at = now
    return Filed([wanted[name] for name in sorted(wanted)], tally, stale)


def _unspent(arrivals: Sequence[Arrival], rows: Mapping[Name, HeldRun]) -> list[Arrival]:
    """`rounds.uncounted`; in the first round of a key nothing can have been counted before."""
    late = [each for each in arrivals if rows[each.dag.pk, each.key].round > 1]
    if not late:
        return list(arrivals)
    kept = {(each.dag.pk, each.key, each.event.pk) for each in rounds.uncounted(late)}
    return [
        each
        for each in arrivals
        if rows[each.dag.pk, each.key].round == 1 or (each.dag.pk, each.key, each.event.pk) in kept
    ]


def _part_late(arrivals: Sequence[Arrival], rows: Mapping[Name, HeldRun]) -> tuple[list[Arrival], set[Name]]:
    """The arrivals that are to be counted, and the names of what was made without those that are late.

    A Dag that only marks (`late="mark_stale"`) counts none of them. Its held runs are locked: none fires
    between this look and the end of the transaction.
    """
    late = rounds.fired_before({rows[arrival.dag.pk, arrival.key] for arrival in arrivals})
    stale = {name for name, row in rows.items() if row.pk in late}
    late_dags = {dag_id for dag_id, _ in stale}
    heard = listening.of_dags({arrival.dag for arrival in arrivals if arrival.dag.pk in late_dags})
    marking = {dag_id for dag_id, answer in heard.items() if only_marks(answer)}
    counted = [
        arrival
        for arrival in arrivals
        if not (arrival.dag.pk in marking and (arrival.dag.pk, arrival.key) in stale)
    ]
    return counted, stale
