"""Backfills played by hand: asked for, advanced, their runs executed in an instant."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta

from core.models import Asset, Backfill, BackfillPartition, Dag, DagRun
from scheduling import backfills, claims, holds, runs, turns
from scheduling.algebra import specs
from scheduling.algebra.time_shorthands import DailyPartitions, HourlyPartitions
from scheduling.backfills import Ask
from scheduling.runs import Ask as RunAsk
from tests.engine import world
from tests.engine.world import ALICE, NOW, RUNTIME, asset, consumer, dag

SECOND = timedelta(seconds=1)


def daily(name: str = "days", start: str = "2026-03-01", **options: object) -> Asset:
    return asset(name, partitions=specs.dump(DailyPartitions(start, **options)))


def hourly(name: str = "hours", start: str = "2026-03-10", **options: object) -> Asset:
    return asset(name, partitions=specs.dump(HourlyPartitions(start, **options)))


def producer(dag_id: str = "load", writes: str = "days", **fields: object) -> Dag:
    """A Dag that writes one asset, of days unless that has keys of its own already."""
    if not Asset.objects.filter(name=writes).exists():
        daily(writes)
    return dag(dag_id, RUNTIME, writes=[writes], **fields)


def listener(dag_id: str, hears: str, writes: str, mapper: dict | None = None, **options: object) -> Dag:
    return consumer(dag_id, {hears: mapper or {"type": "IdentityMapper"}}, writes=[writes], **options)


def ask(*dags: Dag, **options: object) -> Ask:
    return Ask(tuple(dags), **options)


def plan(*dags: Dag, now: datetime = NOW, **options: object) -> backfills.Plan:
    return backfills.plan(ask(*dags, **options), now=now)


def keys(*dags: Dag, now: datetime = NOW, **options: object) -> list[str]:
    """What would run, Dag after Dag."""
    return [key for _, key in plan(*dags, now=now, **options).pairs()]


def begin(*dags: Dag, at: datetime = NOW, **options: object) -> Backfill:
    return backfills.start(ask(*dags, **options), deed=ALICE, at=at)


def turn(at: datetime = NOW) -> None:
    """Let the engine do all it can, except executing runs."""
    busy = True
    while busy:
        busy = bool(backfills.advance(now=at))
        while holds.route_pending(now=at) or holds.judge_due(now=at):
            busy = True


def execute(
    at: datetime = NOW,
    *,
    most: int | None = None,
    fail: Collection[str] = (),
    silent: Collection[str] = (),
    end: Callable[[DagRun], None] | None = None,
) -> list[DagRun]:
    """Execute what may start now to its end: badly for keys to `fail`, without a word for `silent` ones."""
    pks = turns.dispatch(now=at)[:most]
    claimed = [run for pk in pks if (run := claims.claim(pk, worker="w", now=at))]
    for run in claimed:
        (end or (lambda run: finish(run, at, fail, silent)))(run)
    return claimed


def finish(run: DagRun, at: datetime, fail: Collection[str] = (), silent: Collection[str] = ()) -> None:
    if set(run.keys) & set(fail):
        claims.fail(run, "Traceback\n  boom: no disk", at=at)
        return
    wrote = [] if set(run.keys) & set(silent) else [claims.Output(each) for each in outlets(run.dag)]
    claims.succeed(run, wrote, at=at)


def outlets(made: Dag) -> list[Asset]:
    return list(Asset.objects.filter(outlets__dag=made).distinct())


def drive(backfill: Backfill, at: datetime = NOW, most: int = 1000, **how: object) -> list[list[str]]:
    """Turn the engine and execute until `backfill` is completed. The keys of each run, in their order."""
    done = []
    for step in range(most):
        now = at + step * SECOND
        turn(now)
        backfill.refresh_from_db()
        if backfill.completed_at:
            return done
        done += [run.keys for run in execute(now, **how)]
    raise AssertionError(f"not completed after {most} steps: {counts(backfill)}")


def flat(lists: Iterable[Iterable[str]]) -> list[str]:
    return [key for keys in lists for key in keys]


def counts(backfill: Backfill) -> dict[str, int]:
    """The counts over all targets, without zeros; they must agree with the rows."""
    totals: Counter[str] = Counter()
    for target in backfill.targets.all():
        for name in ("planned", "done", "failed", "skipped", "cancelled", "open"):
            totals[name] += getattr(target, name)
    rows = Counter(states(backfill).values())
    ended = {name: rows[name] for name in ("done", "skipped", "cancelled")}
    ended["failed"] = rows["failed"] + rows["blocked"]
    ended["open"] = rows["waiting"] + rows["ready"] + rows["started"]
    assert totals == Counter(planned=sum(rows.values())) + Counter(ended), (totals, rows)
    return {name: number for name, number in totals.items() if number}


def states(backfill: Backfill) -> dict[tuple[str, str], str]:
    """The state of each partition by Dag and key."""
    rows = BackfillPartition.objects.filter(target__backfill=backfill)
    found = rows.values_list("target__dag__dag_id", "key", "state")
    return {(dag_id, key): state for dag_id, key, state in found}


def item(backfill: Backfill, key: str, dag_id: str | None = None) -> BackfillPartition:
    rows = BackfillPartition.objects.filter(target__backfill=backfill, key=key)
    return rows.get(target__dag__dag_id=dag_id) if dag_id else rows.get()


def days(first: int, last: int, month: str = "2026-03") -> list[str]:
    return [f"{month}-{day:02}" for day in range(first, last + 1)]


def attempt(made, key, end="success", **output):
    run = world.start(runs.trigger(made, RunAsk(key), deed=ALICE, at=NOW))
    if end == "success":
        names = [outlet.asset.name for outlet in made.outlets.select_related("asset")]
        world.finish(run, *names)
    elif end == "failed":
        claims.fail(run, "boom", at=NOW)
    elif end == "cancelled":
        claims.stop(run, at=NOW)
    return run


def reasons(made, **options):
    [part] = plan(made, **options).parts
    return dict(part.skipped)


def of_dag(backfill, dag_id):
    """State by key of one Dag's partitions."""
    return {key: state for (name, key), state in states(backfill).items() if name == dag_id}


def unjudged():
    """Let the engine map events and advance, before it has judged what it holds."""
    while holds.route_pending(now=NOW, at_once=0) or backfills.advance(now=NOW):
        pass


def steer(deed, backfill, at=NOW, **options):
    return deed(backfill, deed=ALICE, at=at, **options)
