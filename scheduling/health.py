"""Is the engine alive? Every process leaves a pulse; whoever asks compares it with the clock."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import QuerySet

from core.models import AssetEvent, DagRun, HeldRun, Pulse
from scheduling import slots
from scheduling.algebra.phrases import some

KEEP = timedelta(hours=1)

State = DagRun.State


@dataclass(frozen=True, slots=True)
class Vital:
    """One kind of process: when it was last seen, how many are alive, and what that means in words."""

    kind: str
    is_alive: bool
    alive: int
    last_seen_at: datetime | None
    words: str

    @property
    def sentence(self) -> str:
        return f"{self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class Health:
    """`sweeps` says that somebody looks at everything and comes to the end of it, whoever sends them.

    `unstarted_runs` could start and have not, while none is running: nobody takes them. `late_held_runs` are
    no fault of the engine: somebody else owes them a key.
    """

    beat: Vital
    workers: Vital
    sweeps: Vital
    unrouted_events: int
    oldest_unrouted_at: datetime | None
    overdue_judgements: int
    unstarted_runs: int
    late_held_runs: int = 0

    @property
    def ok(self) -> bool:
        return not self.reasons()

    def reasons(self) -> list[str]:
        """What is wrong, a sentence each."""
        said = [each.sentence for each in (self.beat, self.workers, self.sweeps) if not each.is_alive]
        if self.unstarted_runs:
            said.append(
                f"runs: {self.unstarted_runs} could start and none is running; "
                "is there a worker for the queue `work`?"
            )
        return said


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
    """What the pulses and the queues of the database say. A few small queries."""
    pulses = list(Pulse.objects.all())
    waiting = uncounted(now)
    oldest = waiting.first()
    return Health(
        beat=_vital("beat", Pulse.Kind.BEAT, pulses, now),
        workers=_vital("workers", Pulse.Kind.WORKER, pulses, now),
        sweeps=_vital("sweeps", Pulse.Kind.SWEEP, pulses, now),
        unrouted_events=waiting.count() if oldest else 0,
        oldest_unrouted_at=oldest.timestamp if oldest else None,
        overdue_judgements=unjudged(now).count(),
        unstarted_runs=_unstarted(now - patience()),
        late_held_runs=HeldRun.objects.late(now).count(),
    )


def uncounted(now: datetime) -> "QuerySet[AssetEvent]":
    """Events that should have been counted by `now`, oldest first."""
    return AssetEvent.objects.unrouted().filter(timestamp__lt=now - patience())


def unjudged(now: datetime) -> "QuerySet[HeldRun]":
    """Held runs that should have been judged by `now`, longest overdue first."""
    return HeldRun.objects.due(now - patience())


def is_silent(kind: Pulse.Kind, now: datetime) -> bool:
    """Whether no pulse of that kind has been left for three sweeps."""
    return not Pulse.objects.filter(kind=kind, at__gte=now - patience()).exists()


def patience() -> timedelta:
    """How long a process may be silent: three sweeps."""
    return timedelta(seconds=3 * settings.SWEEP_SECONDS)


def _unstarted(since: datetime) -> int:
    """Runs on their way to a worker since before `since`, while none runs or has ended after it."""
    waiting = slots.startable(since).filter(dispatched_at__isnull=False)
    if not waiting.exists() or DagRun.objects.filter(state=State.RUNNING).exists():
        return 0
    newest = DagRun.objects.finished().order_by("-pk").values_list("ended_at", flat=True)[:100]
    return 0 if any(at and at >= since for at in newest) else waiting.count()


def _vital(name: str, kind: Pulse.Kind, pulses: list[Pulse], now: datetime) -> Vital:
    seen = [each.at for each in pulses if each.kind == kind]
    alive = sum(at >= now - patience() for at in seen)
    last = max(seen, default=None)
    if alive:
        words = "running to their end" if kind == Pulse.Kind.SWEEP else f"{alive} alive"
    elif last:
        words = f"silent for {_length(now - last)}; {_MEANS[Pulse.Kind(kind)]}"
    else:
        words = f"never seen; {_START[Pulse.Kind(kind)]}"
    return Vital(name, alive > 0, alive, last, words)


def _length(silence: timedelta) -> str:
    """Whole seconds, and minutes of more than two."""
    seconds = int(silence.total_seconds())
    return some(seconds, "second") if seconds < 120 else some(seconds // 60, "minute")


_MEANS = {
    Pulse.Kind.BEAT: "workers look for work and ticks in its place until one is started",
    Pulse.Kind.WORKER: "nothing runs until one is started",
    Pulse.Kind.SWEEP: "nobody looks for lost work, or something keeps them from their end (see the log)",
}
_START = {
    Pulse.Kind.BEAT: "start one with `python manage.py beat`",
    Pulse.Kind.WORKER: "start one with `python manage.py worker`",
    Pulse.Kind.SWEEP: "they begin when beat and a worker run",
}
