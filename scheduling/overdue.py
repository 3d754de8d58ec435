"""Held runs that are overdue: when they will be, and what is done once when they are.

1. Whoever judges a held run writes down when it becomes late (`late_at`); until then it sleeps.
2. `note_late` takes those whose time has come, looks once more, and notes it: in the journal and, if the site
   has an address for that, as an alert.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial

from django.conf import settings
from django.db import transaction

from core.models import Alert, Asset, Dag, Dependency, HeldRun
from scheduling import expected, journal, listening, rounds
from scheduling.algebra import specs
from scheduling.algebra.conditions import Leaf
from scheduling.algebra.lacking import ExpectedAt, Lack, lacks_of, overdue_at
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.assessing import assess
from scheduling.doorbell import Bell, ring, ring_if_due
from scheduling.expected import Expectations, Owed
from scheduling.listening import DagListening

TOLD = 50
"""Missing keys that an alert names."""


def when_late(rows: Sequence[HeldRun], verdicts: Mapping[int, Verdict]) -> dict[int, datetime | None]:
    """When each of `rows` becomes late if nothing more comes, by primary key.

    Costs nothing for Dags that do not say `late_after`; for the others, a query and a few for each producer.
    """
    heard = {
        pk: answer
        for pk, answer in listening.of_dags({row.dag for row in rows}).items()
        if isinstance(answer, DagListening) and answer.listening.late_after is not None
    }
    waiting = [row for row in rows if row.dag_id in heard and verdicts[row.pk].kind is Kind.WAITING]
    times: dict[int, datetime | None] = dict.fromkeys((row.pk for row in rows), None)
    lacks = _lacks(waiting, heard, verdicts)
    if not any(lacks.values()):
        return times
    assets = assets_of(row.dag_id for row in waiting)
    expectations = Expectations(asset for leaves in assets.values() for asset in leaves.values())
    for row in waiting:
        at = _expected_by(row, lacks[row.pk], assets[row.dag_id], expectations)
        times[row.pk] = overdue_at(heard[row.dag_id].listening, verdicts[row.pk], lacks[row.pk], at)
    return times


def counting_on(assets: Collection[int]) -> list[Dag]:
    """The Dags that say when they are late and listen to one of `assets`, by primary key."""
    fed = Dag.objects.active().filter(dependencies__asset__in=list(assets))
    return list(fed.filter(schedule__late_after__isnull=False).distinct()) if assets else []


def owed(
    rows: Sequence[HeldRun],
    verdicts: Mapping[int, Verdict],
    *,
    most: int | None = None,
    mosts: Mapping[int, int] | None = None,
    assets: Mapping[int, Mapping[Leaf, Asset]] | None = None,
) -> dict[int, list[Owed]]:
    """Who owes what each of `rows` lacks, by primary key, each key in order.

    :param most: so many keys of each asset, the first ones. The number of queries does not grow with keys.
    :param mosts: the same for some of the rows, by primary key.
    :param assets: those of their Dags (`assets_of`), if they are known.
    """
    answers = listening.of_dags({row.dag for row in rows})
    heard = {pk: answer for pk, answer in answers.items() if isinstance(answer, DagListening)}
    lacks = _lacks([row for row in rows if row.dag_id in heard], heard, verdicts)
    assets = assets_of(row.dag_id for row in rows) if assets is None else assets
    expectations = Expectations(asset for leaves in assets.values() for asset in leaves.values())
    found: list[Owed] = []
    counts: list[tuple[int, int]] = []
    for row in rows:
        some, own = (mosts or {}).get(row.pk, most), assets[row.dag_id]
        told = partial(owed_of, assets=own, expectations=expectations, since=row.opened_at, most=some)
        mine = [each for lack in lacks.get(row.pk, ()) for each in told(lack)]
        counts.append((row.pk, len(mine)))
        found += mine
    complete = iter(expected.with_attempts(found))
    return {row.pk: [] for row in rows} | {pk: [next(complete) for _ in range(count)] for pk, count in counts}


def owed_of(
    lack: Lack,
    assets: Mapping[Leaf, Asset],
    expectations: Expectations,
    *,
    since: datetime,
    most: int | None = None,
) -> list[Owed]:
    """The keys that `lack` names, without what has been tried; `since` when its held run is open."""
    asset = assets.get(lack.leaf)
    if asset is None:
        nobody = expected.Expected(None, f"not known: nothing defines {lack.leaf.words()}")
        return [Owed(lack.leaf, None, key, nobody) for key in lack.keys[:most]]
    never, own = partial(expected.never, asset), partial(_expected, lack, asset, expectations, since)
    times = ((key, never(key) if key in lack.never else own(key)) for key in lack.keys[:most])
    every, sensors = tuple(expectations.dags[asset.pk]), expectations.sensors.get(asset.pk, ())
    return [Owed(lack.leaf, asset, key, at, (at.dag,) if at.dag else every, sensors) for key, at in times]


def assets_of(dag_ids: Iterable[int]) -> dict[int, dict[Leaf, Asset]]:
    """The asset behind each leaf, by Dag. One query."""
    found: dict[int, dict[Leaf, Asset]] = {dag_id: {} for dag_id in dag_ids}
    rows = Dependency.objects.filter(dag__in=found, asset__isnull=False).select_related("asset")
    for row in rows:
        if row.asset:
            found[row.dag_id][specs.load(row.leaf, "condition")] = row.asset
    return found


def note_late(*, now: datetime, limit: int = 200) -> int:
    """Note up to `limit` held runs that have become late, once each. Returns how many were looked at."""
    with transaction.atomic():
        due = HeldRun.objects.to_be_noted(now).select_related("dag")
        rows = list(due.select_for_update(skip_locked=True, no_key=True, of=("self",))[:limit])
        if not rows:
            return 0
        ring_if_due(row.judge_after for row in rows)
        verdicts = assess(rows, now=now)
        times = when_late(rows, verdicts)
        for row in rows:
            row.late_at = times[row.pk]
        late = [row for row in rows if row.late_at and row.late_at <= now]
        for row in late:
            row.late_noted_at = now
        HeldRun.objects.bulk_update(rows, ["late_at", "late_noted_at"])
        journal.note_all([_entry(row, verdicts[row.pk], now) for row in late])
        if settings.ALERT_URL and late:
            _leave_alerts(late, verdicts, now)
    return len(rows)


def lacks_in(row: HeldRun, heard: DagListening, verdict: Verdict) -> tuple[Lack, ...]:
    """What each asset lacks for an open held run. Two queries at most."""
    return _lacks([row], {row.dag_id: heard}, {row.pk: verdict})[row.pk]


def _lacks(
    rows: Sequence[HeldRun], heard: Mapping[int, DagListening], verdicts: Mapping[int, Verdict]
) -> dict[int, tuple[Lack, ...]]:
    """What each asset lacks, by held run. Two queries at most, the second where later rounds lack any."""
    late = rounds.fired_before(rows)

    def lacks(row: HeldRun, lost: Mapping[int, Collection[str]]) -> tuple[Lack, ...]:
        answer, verdict = heard[row.dag_id], verdicts[row.pk]
        gone = {answer.leaf_of[pk]: keys for pk, keys in lost.items() if pk in answer.leaf_of}
        return lacks_of(answer.listening, row.partition_key, verdict, is_late=row.pk in late, lost=gone)

    found = {row.pk: lacks(row, {}) for row in rows}
    lost = rounds.lost([row for row in rows if row.pk in late and found[row.pk]])
    return found | {row.pk: lacks(row, lost[row.pk]) for row in rows if lost.get(row.pk)}


def _expected_by(
    row: HeldRun, lacks: Iterable[Lack], leaves: Mapping[Leaf, Asset], expectations: Expectations
) -> ExpectedAt:
    by_leaf = {lack.leaf: lack for lack in lacks}

    def expected_at(leaf: Leaf, key: str) -> datetime | None:
        if leaf not in leaves:
            return None
        return _expected(by_leaf[leaf], leaves[leaf], expectations, row.opened_at, key).at

    return expected_at


def _expected(
    lack: Lack, asset: Asset, expectations: Expectations, since: datetime, key: str
) -> expected.Expected:
    return expectations.of(asset, key, anew=since if key in lack.once else None)


def _entry(row: HeldRun, verdict: Verdict, now: datetime) -> journal.JournalEntry:
    late_at = row.late_at.isoformat() if row.late_at else None
    return journal.entry(
        "held run late",
        at=now,
        about=row.dag,
        key=row.partition_key,
        sentence=verdict.sentence,
        late_at=late_at,
    )


def _leave_alerts(late: Sequence[HeldRun], verdicts: Mapping[int, Verdict], now: datetime) -> None:
    owing = owed(late, verdicts, most=TOLD)
    Alert.objects.bulk_create(
        [
            Alert(
                held_run=row, body=_body(row, verdicts[row.pk], owing[row.pk]), created_at=now, send_after=now
            )
            for row in late
        ],
        ignore_conflicts=True,
    )
    ring(Bell.ALERT)


def _body(row: HeldRun, verdict: Verdict, owing: Sequence[Owed]) -> dict[str, object]:
    return {
        "event": "held_run_late",
        "id": row.pk,
        "dag_id": row.dag.dag_id,
        "partition_key": row.partition_key or None,
        "round": row.round,
        "held_since": row.opened_at.isoformat(),
        "late_at": row.late_at.isoformat() if row.late_at else None,
        "sentence": verdict.sentence,
        "missing": [
            {
                "asset": each.asset.name if each.asset else each.leaf.words(),
                "partition_key": each.key,
                "expected_at": each.expected.at.isoformat() if each.expected.at else None,
                "owed_by": [dag.dag_id for dag in each.dags],
                "sensors": [sensor.name for sensor in each.sensors],
            }
            for each in owing[:TOLD]
        ],
        "url": f"{settings.SITE_URL.rstrip('/')}/held/{row.pk}",
    }
