"""Definition files that cannot be loaded when a run of theirs is to be executed: somebody is saving one.

1. The worker that finds it out puts the run back as if nobody had taken it, and notes the file.
2. Nothing that needs the file is taken until `AGAIN` has passed; then the next run tries it anew.
   One that was sent to a worker before is on its way no more (`claims.claim`).
3. A look at the definitions that loads it, or a run that does, ends that (`note_loaded`). So does one that
   finds it among the files no more.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db.models import Q

from core.models import Dag, DefinitionSource
from scheduling import doorbell
from scheduling.algebra.phrases import ended
from scheduling.doorbell import Bell
from scheduling.runlog import storable

AGAIN = timedelta(seconds=30)
"""How long runs wait for a file until one of them tries it again."""

SHOWN = 1000
"""Characters of a reason that are kept. The page of definitions has all of it after the next look at them."""


def note(dag: Dag, why: str, *, at: datetime) -> None:
    """A run of `dag` could not be executed, `why` its file cannot be loaded: whatever needs it waits."""
    fields = {"unloadable_until": at + AGAIN, "unloadable_why": storable(why[:SHOWN])}
    if dag.source:  # the one that was tried, even if the Dag is in another by now
        DefinitionSource.objects.filter(pk=dag.source.pk).update(**fields)


def note_loaded(sources: Iterable[DefinitionSource]) -> None:
    """What waits for one of `sources` may start: it is whole, or nobody needs it any more."""
    pks = [source.pk for source in sources if source.unloadable_until]
    if pks:
        DefinitionSource.objects.filter(pk__in=pks).update(unloadable_until=None, unloadable_why="")
        doorbell.ring(Bell.START)


def loadable(now: datetime) -> Q:
    """Runs that wait for no file. What another system executes needs none."""
    free = Q(dag__source=None) | Q(dag__source__unloadable_until=None)
    return Q(dag__executor=Dag.Executor.EXTERNAL) | free | Q(dag__source__unloadable_until__lte=now)


def why_not(dag: Dag) -> str:
    """Why runs of `dag` wait for its file, in words; empty if they do not."""
    if dag.executor == Dag.Executor.EXTERNAL or not (dag.source and dag.source.unloadable_until):
        return ""
    return f"{ended(dag.source.unloadable_why)} It is tried again every {AGAIN.seconds} seconds."
