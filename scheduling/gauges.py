"""What a monitoring system wants to know, as numbers. Reads only, and counts through small indexes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import inf

from django.db.models import Count, Max

from core.models import Alert, AssetEvent, DagRun, HeldRun, Pulse
from scheduling import health, slots
from scheduling.algebra.verdicts import Kind

OPEN = (DagRun.State.QUEUED, DagRun.State.RUNNING)


@dataclass(frozen=True, slots=True)
class Sample:
    value: float
    labels: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gauge:
    """One number, or one for each value of a label. Ages are in seconds; what was never seen is ages ago."""

    name: str
    words: str
    samples: tuple[Sample, ...]


def read(*, now: datetime) -> list[Gauge]:
    """All gauges, in about a dozen queries."""
    return [*_runs(now), *_events(now), *_held_runs(now), *_processes(now)]


def _runs(now: datetime) -> Iterator[Gauge]:
    # Not those that have ended: there may be millions, and they are counted again at each scrape.
    open_runs = DagRun.objects.filter(state__in=OPEN).order_by()
    counts = dict(open_runs.values_list("state").annotate(count=Count("*")))
    states = tuple(Sample(counts.get(state, 0), {"state": str(state)}) for state in OPEN)
    yield Gauge("partita_runs", "Dag runs that have not ended, by state", states)
    waiting = slots.startable(now).count()
    yield _one("partita_queue_depth", "Queued runs that nothing but a limit or a worker keeps", waiting)


def _events(now: datetime) -> Iterator[Gauge]:
    unmapped = AssetEvent.objects.unrouted()
    oldest = unmapped.values_list("timestamp", flat=True).first()
    yield _one("partita_events_unmapped", "Asset events that nobody has counted yet", unmapped.count())
    yield _one(
        "partita_oldest_unmapped_event_age_seconds",
        "Age of the oldest of them; 0 if there is none",
        (now - oldest).total_seconds() if oldest else 0,
    )


def _held_runs(now: datetime) -> Iterator[Gauge]:
    counts = dict(HeldRun.objects.held().order_by().values_list("verdict").annotate(count=Count("*")))
    verdicts = tuple(Sample(counts.get(str(kind), 0), {"verdict": str(kind)}) for kind in Kind)
    yield Gauge("partita_held_runs", "Open held runs, by the verdict on them", verdicts)
    due = HeldRun.objects.due(now).count()
    yield _one("partita_held_runs_due", "Held runs that are to be judged now", due)
    late = HeldRun.objects.late(now).count()
    yield _one("partita_held_runs_late", "Held runs that lack a key which should have come", late)
    unsent = Alert.objects.filter(send_after__isnull=False).count()
    yield _one("partita_alerts_unsent", "Alerts that the alert address has not taken yet", unsent)


def _processes(now: datetime) -> Iterator[Gauge]:
    seen = dict(Pulse.objects.order_by().values_list("kind").annotate(Max("at")))
    for kind, words in (("beat", "beat"), ("worker", "a worker"), ("sweep", "a sweep that came to its end")):
        last = seen.get(kind)
        age = max(0.0, (now - last).total_seconds()) if last else inf
        yield _one(f"partita_{kind}_age_seconds", f"Time since {words} was last seen", age)
    alive = Pulse.objects.filter(kind=Pulse.Kind.WORKER, at__gte=now - health.patience()).count()
    yield _one("partita_workers_alive", "Workers that were seen within three sweeps", alive)


def _one(name: str, words: str, value: float) -> Gauge:
    return Gauge(name, words, (Sample(value),))
