"""What needs a person, most urgent first, and how much goes on."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet

from core.models import Dag, DagRun, DefinitionSource, HeldRun, MappingProblem, Partition, Sensor
from scheduling.algebra.verdicts import Kind
from scheduling.belonging import EVERYTHING, Sight
from scheduling.board.unexpected import ByDag, Unexpected, unexpected
from scheduling.health import Health

RECENT = timedelta(days=1)

MOST_UNMAPPED, MOST_LISTENERS = 50, 5

REPORTED = (
    "Report it under a key that is in it, wipe it, or change the definition.",
    "Report them under keys that are in it, wipe them, or change the definition.",
)
MADE = (
    "A mapper made it of another key: correct that one, and cancel its held run.",
    "A mapper made them of other keys: correct those, and cancel their held runs.",
)
"""What to do about one key, or several, that are not in the definition."""


@dataclass(frozen=True, slots=True)
class Need:
    """One thing to look at: its kind, what it is about, how many such there are, and a sentence."""

    kind: str
    subject: str
    sentence: str
    count: int = 1
    verdict: str = ""
    reason: str = ""
    at: datetime | None = None


def needs(health: Health, *, now: datetime, sight: Sight = EVERYTHING) -> list[Need]:
    """Everything that will not mend itself, of what is shown. Ten queries; more with unexpected keys."""
    since, is_whole = now - RECENT, sight.is_whole
    strays = unexpected(now=now, sight=sight)
    return [
        *_late(now, sight),
        *_engine(health),
        *(_definitions() if is_whole else ()),
        *_dags(sight),
        *(_sensors() if is_whole else ()),
        *_held(sight),
        *_failed(since, sight),
        *_unmapped(since, sight, strays),
        *(() if is_whole else _unmapped_of_others(since, sight)),
        *_unexpected(strays),
    ]


def flow(sight: Sight = EVERYTHING) -> dict[str, int]:
    """How many held, queued and running runs and how many paused Dags there are; three queries."""
    moving = DagRun.objects.filter(sight.dags("dag"), state__in=[DagRun.State.QUEUED, DagRun.State.RUNNING])
    runs = moving.order_by().values_list("state").annotate(count=Count("*"))
    paused = Dag.objects.active().filter(sight.dags(), is_paused=True).count()
    return {"held": verdicts(sight).total(), "queued": 0, "running": 0, "paused": paused} | dict(runs)


def verdicts(sight: Sight = EVERYTHING) -> Counter[str]:
    """How many open held runs were last judged how. Asks for no column that a small index lacks."""
    held = HeldRun.objects.held().filter(sight.dags("dag"))
    return Counter(dict(held.order_by().values_list("verdict").annotate(count=Count("*"))))


def _late(now: datetime, sight: Sight) -> Iterator[Need]:
    rows = (
        HeldRun.objects.late(now)
        .filter(sight.dags("dag"))
        .values("dag__dag_id")
        .annotate(count=Count("pk"), sentence=Max("sentence"), key=Min("partition_key"), at=Min("late_at"))
        .order_by("at", "dag__dag_id")
    )
    for row in rows[:50]:
        sentence = f"{row['key']} is {row['sentence']}" if row["count"] == 1 else row["sentence"]
        yield Need("late", row["dag__dag_id"], sentence, row["count"], at=row["at"])


def _engine(health: Health) -> Iterator[Need]:
    for vital in (health.beat, health.workers):
        if not vital.is_alive:
            yield Need("engine", vital.kind, vital.sentence, at=vital.last_seen_at)


def _definitions() -> Iterator[Need]:
    for source in DefinitionSource.objects.exclude(error="", unloadable_why="")[:20]:
        yield Need("definition", source.name, source.error or source.unloadable_why, at=source.loaded_at)


def _dags(sight: Sight) -> Iterator[Need]:
    for dag in Dag.objects.active().filter(sight.dags()).exclude(problems=[])[:50]:
        errors = [problem["sentence"] for problem in dag.problems if problem.get("level") == "error"]
        if errors:
            yield Need("dag", dag.dag_id, errors[0], len(errors))


def _sensors() -> Iterator[Need]:
    for sensor in Sensor.objects.active().filter(Q(failures__gt=0, is_paused=False) | ~Q(problem=""))[:20]:
        yield Need("sensor", sensor.name, sensor.problem or sensor.sentence, at=sensor.looked_at)


def _held(sight: Sight) -> Iterator[Need]:
    rows = (
        HeldRun.objects.held()
        .filter(sight.dags("dag"), verdict__in=[Kind.BROKEN, Kind.UNREACHABLE])
        .values("dag__dag_id", "verdict")
        .annotate(count=Count("pk"), sentence=Max("sentence"), at=Max("opened_at"))
        .order_by("verdict", "dag__dag_id")
    )
    for row in rows:
        yield Need("held", row["dag__dag_id"], row["sentence"], row["count"], row["verdict"], row["at"])


def _failed(since: datetime, sight: Sight) -> Iterator[Need]:
    partitions = (
        Partition.objects.filter(sight.assets("asset__"), state=Partition.State.FAILED, updated_at__gte=since)
        .values("asset__name")
        .annotate(count=Count("pk"), key=Max("key"), at=Max("updated_at"), why=Max("attempt_run__error"))
        .order_by("asset__name")
    )
    for row in partitions:
        name, reason = row["asset__name"], row["why"] or ""
        yield Need("failed", name, row["key"], row["count"], reason=reason, at=row["at"])
    unkeyed = (
        DagRun.objects.filter(
            sight.dags("dag"), state=DagRun.State.FAILED, partition_key=None, ended_at__gte=since
        )
        .exclude(Exists(_mended()), partition_keys__isnull=True)
        .values("dag__dag_id")
        .annotate(count=Count("pk"), error=Max("error"), at=Max("ended_at"))
    )
    for each in unkeyed:
        yield Need("run", each["dag__dag_id"], each["error"], each["count"], at=each["at"])


def _mended() -> QuerySet[DagRun]:
    """Later runs of the same Dag without a key that succeeded: nobody has to look at the one before."""
    mine = {"dag": OuterRef("dag"), "ended_at__gt": OuterRef("ended_at"), "partition_keys__isnull": True}
    return DagRun.objects.filter(state=DagRun.State.SUCCESS, partition_key=None, **mine)


def _unmapped(since: datetime, sight: Sight, strays: Sequence[Unexpected]) -> Iterator[Need]:
    """Events of the last day that Dags could not map, by asset; not of keys that are told of anyway."""
    problems = MappingProblem.objects.filter(sight.dags("dag"), sight.assets("event__asset__"), at__gte=since)
    for each in strays:
        problems = problems.exclude(event__asset=each.asset, event__partition_key__in=each.keys)
    rows = problems.values("event__asset__name").annotate(
        count=Count("event", distinct=True),
        key=Max("event__partition_key"),
        sentence=Max("sentence"),
        at=Max("at"),
    )
    found = list(rows.order_by("event__asset__name")[:MOST_UNMAPPED])
    names: dict[str, list[str]] = {row["event__asset__name"]: [] for row in found}
    by = problems.filter(event__asset__name__in=names).order_by("dag__dag_id")
    for name, dag_id in by.values_list("event__asset__name", "dag__dag_id").distinct() if names else ():
        names[name].append(dag_id)
    for row in found:
        name = row["event__asset__name"]
        more = f" and {row['count'] - 1} more" if row["count"] > 1 else ""
        what = f"{row['key'] or 'an event without a key'}{more}"
        sentence = (
            f"{what}: {_listed(names[name])} cannot count {'them' if more else 'it'}: {row['sentence']}"
        )
        yield Need("mapping", name, sentence, row["count"], reason=row["key"] or "", at=row["at"])


def _unmapped_of_others(since: datetime, sight: Sight) -> Iterator[Need]:
    """The same of assets that are not shown, by the Dag that is: it names what it listens to."""
    elsewhere = ~sight.assets("event__asset__")
    problems = MappingProblem.objects.filter(sight.dags("dag"), elsewhere, at__gte=since)
    rows = problems.values("dag__dag_id", "event__asset__name").annotate(
        count=Count("event"), key=Max("event__partition_key"), sentence=Max("sentence"), at=Max("at")
    )
    for row in rows.order_by("dag__dag_id", "event__asset__name")[:MOST_UNMAPPED]:
        more = f" and {row['count'] - 1} more" if row["count"] > 1 else ""
        what = f"{row['key'] or 'an event without a key'}{more} of {row['event__asset__name']}"
        sentence = f"cannot count {what}: {row['sentence']}"
        yield Need("uncounted", row["dag__dag_id"], sentence, row["count"], at=row["at"])


def _unexpected(strays: Sequence[Unexpected]) -> Iterator[Need]:
    """What was reported, and apart from it what a mapper made: there is something else to do about it."""
    for each in strays:
        reported = tuple(key for key in each.keys if key not in each.made)
        made = tuple(key for key in each.keys if key in each.made)
        for keys, (one, many) in ((reported, REPORTED), (made, MADE)):
            if keys:
                advice = many if len(keys) > 1 else one
                yield Need("unexpected", each.asset.name, _not_defined(each, keys), len(keys), reason=advice)


def _not_defined(each: Unexpected, keys: Sequence[str]) -> str:
    named = f"{keys[0]} and {len(keys) - 1} more are" if len(keys) > 1 else f"{keys[0]} is"
    held = (f"held runs of {names} do not count {them}" for them, names in _by_keys(each.holding, keys))
    refused = (f"{names} cannot map {them}" for them, names in _by_keys(each.refusing, keys))
    return "; ".join((f"{named} not in its definition", *held, *refused))


def _by_keys(those: ByDag, keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    """How many of `keys` as a pronoun, and the Dags of which that is true."""
    dags: dict[int, list[str]] = defaultdict(list)
    for name in sorted(those):
        if count := len(those[name] & set(keys)):
            dags[count].append(name)
    for count, names in sorted(dags.items(), reverse=True):
        them = f"{count} of them" if count < len(keys) else "them" if count > 1 else "it"
        yield them, _listed(names)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_LISTENERS} more" if names[MOST_LISTENERS:] else ""
    return ", ".join(names[:MOST_LISTENERS]) + more
