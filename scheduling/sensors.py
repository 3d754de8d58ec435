"""Sensors: functions that look at the world outside on a cadence, and report what has arrived there.

1. `dispatch` says which sensors are due; each gets a number and a message, and is not due again meanwhile.
2. `look` takes the number, calls the function, and records all that it said together with its cursor, in one
   transaction. A look that was overtaken (its worker came back from the dead, somebody set the cursor)
   records nothing; one whose message was lost is sent again.
3. A look that fails records nothing but its failure. The next follows later and later, within an hour.
"""

import logging
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from django.db import transaction

from core.models import Sensor, SensorLook
from core.models.sensors import Outcome
from scheduling import definitions, findings, journal, timeouts
from scheduling.algebra.durations import duration_words
from scheduling.algebra.errors import PartitionError
from scheduling.authoring.context import RunTimedOut
from scheduling.authoring.sensors import LONGEST_CURSOR, Look
from scheduling.findings import BadLook
from scheduling.journal import Deed
from scheduling.runlog import storable
from scheduling.traces import trace_of
from scheduling.turns import DISPATCH_AGAIN

log = logging.getLogger(__name__)

LONGEST_PAUSE = timedelta(hours=1)
"""However often a sensor has failed, it looks again within this, or its own cadence if that is longer."""

LONGEST = 2000
"""Characters that are kept of what a look says of itself."""

Clock = Callable[[], datetime]


class NotLooking(PartitionError):
    """A sensor that is asked to look is paused, refused or not defined any more."""


def dispatch(*, now: datetime, limit: int = 100) -> list[tuple[int, int]]:
    """Primary key and number of each look that a message should be sent for now.

    A look that began and did not end in its time has failed: the next one may follow later than this.
    """
    with transaction.atomic():
        due = Sensor.objects.due(now).order_by("next_look_at", "pk")
        rows = list(due.select_for_update(skip_locked=True, no_key=True)[:limit])
        for row in rows:
            _give_up(row)
        rows = [row for row in rows if row.next_look_at <= now]
        for row in rows:
            is_waiting = row.lease_until is not None and row.began_at is None
            row.look_number += not is_waiting  # a message that waits still, or got lost, may be sent twice
            row.began_at, row.lease_until = None, now + DISPATCH_AGAIN
        Sensor.objects.bulk_update(rows, ["look_number", "began_at", "lease_until"])
    return [(row.pk, row.look_number) for row in rows]


def longest(looks: Sequence[tuple[int, int]]) -> dict[int, float]:
    """Seconds after which the process that is at a look is ended, by the primary key of the sensor."""
    found = Sensor.objects.filter(pk__in=[pk for pk, _ in looks]) if looks else ()
    return {sensor.pk: (sensor.timeout + timeouts.GRACE).total_seconds() for sensor in found}


def take_back(unsent: Sequence[tuple[int, int]]) -> None:
    """These looks could not be sent: they are due still."""
    for pk, number in unsent:
        Sensor.objects.filter(pk=pk, look_number=number, began_at=None).update(lease_until=None)


def forget_looks() -> None:
    """Let every sensor be due again; for an engine that knows that no look is under way."""
    Sensor.objects.exclude(lease_until=None).update(lease_until=None)


def look_now(sensor: Sensor, *, deed: Deed, at: datetime) -> None:
    """Let the next look come at once.

    :raises NotLooking: naming what keeps it from looking.
    """
    if not Sensor.objects.looking().filter(pk=sensor.pk).update(next_look_at=at):
        why = sensor.problem or ("it is paused" if sensor.is_paused else "it is not defined any more")
        raise NotLooking(f"sensor {sensor} does not look: {why}")
    journal.note("sensor asked to look", deed=deed, at=at, sensor=sensor.name)


def look(pk: int, number: int, *, clock: Clock) -> None:
    """Take the look of that number, unless somebody has or it is overtaken, and record what it saw."""
    began = clock()
    mine = Sensor.objects.looking().filter(pk=pk, look_number=number, began_at=None)
    sensor = mine.select_related("source").first()
    if sensor is None or pk in _under_way:
        return
    lease = began + sensor.timeout + timeouts.GRACE
    if not mine.update(began_at=began, lease_until=lease):
        return
    _under_way.add(pk)
    try:
        _take(sensor, number, Look(sensor.cursor, began), clock)
    finally:
        _under_way.discard(pk)
        # Unless it was recorded: whoever overtook it by other means than time need not wait for its end.
        Sensor.objects.filter(pk=pk, lease_until=lease).update(lease_until=None)


_under_way: set[int] = set()
"""Sensors at which this process looks: a thread that outlives its lease cannot be interrupted."""


def _take(sensor: Sensor, number: int, seen: Look, clock: Clock) -> None:
    try:
        _call(sensor, seen)
        with transaction.atomic():
            _record(sensor, number, seen, seen.at, clock())
    except BaseException as error:  # of the function, as in execution
        _fail(sensor, number, error, seen.at, clock())


def _call(sensor: Sensor, seen: Look) -> None:
    with timeouts.interrupting(sensor.timeout):
        definitions.authored_sensor(sensor)(seen)
    if not isinstance(seen.cursor, str) or "\0" in seen.cursor:
        raise BadLook(f"look.cursor is text without NUL, not {seen.cursor!r}: json.dumps makes text of it")
    if (found := len(seen.cursor)) > LONGEST_CURSOR:
        raise BadLook(f"look.cursor has {found} characters: at most {LONGEST_CURSOR} are kept")


def _record(sensor: Sensor, number: int, seen: Look, began: datetime, now: datetime) -> None:
    row = _still(sensor, number)
    if row is None:
        log.warning("a look of sensor %s was overtaken: nothing of it is recorded", sensor)
        return
    found = findings.make_true(row, seen, at=now)
    row.cursor, row.failures = seen.cursor, 0
    row.outcome = Outcome.FOUND if found else Outcome.NOTHING
    row.sentence = _kept(seen.sentence or found or "nothing new")
    _end(row, began, now, began + row.every)
    if found:
        _keep(row, began, now)


@transaction.atomic
def _fail(sensor: Sensor, number: int, error: BaseException, began: datetime, now: datetime) -> None:
    row = _still(sensor, number)
    if row is None:
        return
    _count_failure(row, _sentence(sensor, error))
    _end(row, began, now, began + _pause(row))
    trace = "" if isinstance(error, PartitionError | RunTimedOut) else trace_of(error, caller=__file__)
    _keep(row, began, now, trace)
    if row.failures == 1:
        journal.note("sensor failed", at=now, sensor=row.name, sentence=row.sentence)


def _give_up(row: Sensor) -> None:
    """If a look of `row` has begun and neither ended nor been recorded in its time, it counts as failed.

    Its worker was lost, or ended because the function does not stop (`longest`).
    """
    if row.began_at is None or row.lease_until is None:
        return
    began, allowed = row.began_at, row.lease_until - row.began_at
    _count_failure(
        row, f"the look had not ended {duration_words(allowed)} after it began: its process is gone"
    )
    _end(row, began, began, began + _pause(row))


def _count_failure(row: Sensor, sentence: str) -> None:
    row.failures += 1
    row.outcome, row.sentence = Outcome.FAILED, _kept(sentence)


def _pause(row: Sensor) -> timedelta:
    """From the beginning of a look that has failed to the next one."""
    return min(row.every * 2 ** min(row.failures - 1, 20), max(LONGEST_PAUSE, row.every))


def _still(sensor: Sensor, number: int) -> Sensor | None:
    """The row, locked, if that look is the one under way."""
    mine = Sensor.objects.filter(pk=sensor.pk, look_number=number)
    return mine.select_for_update(no_key=True).first()


def _end(row: Sensor, began: datetime, now: datetime, following: datetime) -> None:
    row.looked_at, row.lease_until, row.next_look_at = began, None, max(following, now)
    row.save(
        update_fields=[
            *("cursor", "failures", "outcome", "sentence", "looked_at", "lease_until", "next_look_at"),
        ]
    )


def _keep(row: Sensor, began: datetime, now: datetime, error: str = "") -> None:
    SensorLook.objects.create(
        sensor=row,
        at=began,
        took=now - began,
        outcome=row.outcome,
        sentence=row.sentence,
        error=error,
        cursor=row.cursor,
    )


def _sentence(sensor: Sensor, error: BaseException) -> str:
    if isinstance(error, RunTimedOut):
        return f"took longer than {duration_words(sensor.timeout)}"
    return str(error) if isinstance(error, PartitionError) else f"{type(error).__name__}: {error}"


def _kept(sentence: str) -> str:
    return storable(sentence if len(sentence) <= LONGEST else f"{sentence[:LONGEST]}…")
