"""Old records and their going, long after they were made."""

from datetime import timedelta

from core.models import AssetEvent
from scheduling import claims, retention, runs
from scheduling.retention import Ages
from scheduling.runs import Ask
from tests.engine.world import ALICE, NOW, asset, start

DAY = timedelta(days=1)
LATER = NOW + 1000 * DAY
YEAR = Ages(logs=365 * DAY, runs=365 * DAY, events=365 * DAY, journal=365 * DAY)


def prune(now=LATER, ages=YEAR):
    return retention.prune(ages, now=now)


def executed(made, key, at=NOW, *, fails=False):
    """A run by hand, begun and ended at `at`."""
    run = start(runs.trigger(made, Ask(key), deed=ALICE, at=at), at=at)
    if fails:
        claims.fail(run, "boom", at=at)
    else:
        claims.succeed(run, [claims.Output(asset("out"))], at=at)
    return run


def there(model=AssetEvent):
    """The numbers of the rows that are left, oldest first."""
    return list(model.objects.order_by("pk").values_list("pk", flat=True))
