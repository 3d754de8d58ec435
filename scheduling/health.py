"""Is the engine alive? Every process leaves a pulse; whoever asks compares it with the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from core.models import AssetEvent, HeldRun, Pulse

KEEP = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Vital:
    """One kind of process: when it was last seen, how many are alive, and what that means in a sentence."""

    kind: str
    is_alive: bool
    alive: int
    last_seen_at: datetime | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Health:
    beat: Vital
    workers: Vital
    unrouted_events: int
    oldest_unrouted_at: datetime | None
    overdue_judgements: int

    @property
    def ok(self) -> bool:
        return self.beat.is_alive and self.workers.is_alive


def pulse(name: str, kind: Pulse.Kind, *, now: datetime) -> None:
    """`name` is alive. Two statements; the second forgets processes that have been gone for an hour."""
    Pulse.objects.bulk_create(
        [Pulse(name=name, kind=kind, at=now)],
        update_conflicts=True,
        unique_fields=["name"],
        update_fields=["kind", "at"],
    )
    Pulse.objects.filter(at__lt=now - KEEP).delete()


def report(now: datetime) -> Health:
    """What the pulses and the queues of the database say. Five small queries."""
    pulses = list(Pulse.objects.all())
    waiting = AssetEvent.objects.unrouted().filter(timestamp__lt=now - patience())
    oldest = waiting.first()
    return Health(
        beat=_vital("beat", Pulse.Kind.BEAT, pulses, now),
        workers=_vital("workers", Pulse.Kind.WORKER, pulses, now),
        unrouted_events=waiting.count(),
        oldest_unrouted_at=oldest.timestamp if oldest else None,
        overdue_judgements=HeldRun.objects.due(now - patience()).count(),
    )


def patience() -> timedelta:
    """How long a process may be silent: three sweeps."""
    return timedelta(seconds=3 * settings.SWEEP_SECONDS)


def _vital(name: str, kind: Pulse.Kind, pulses: list[Pulse], now: datetime) -> Vital:
    seen = [each.at for each in pulses if each.kind == kind]
    alive = sum(at >= now - patience() for at in seen)
    last = max(seen, default=None)
    if alive:
        sentence = f"{name}: {alive} alive"
    elif last:
        seconds = int((now - last).total_seconds())
        sentence = f"{name}: silent for {seconds} seconds; nothing runs until one is started"
    else:
        sentence = (
            f"{name}: never seen; start one with `python manage.py {'beat' if kind == 'beat' else 'worker'}`"
        )
    return Vital(name, alive > 0, alive, last, sentence)
