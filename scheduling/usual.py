"""How long runs of Dags usually take, and how long after their dates keys of assets come."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from statistics import quantiles

from django.db.models import Min, Q

from core.models import Asset, AssetEvent, DagRun, Partition
from core.newest import PORTION, first_of_each
from scheduling import dating

LAST = 20
"""Runs and partitions of which it is asked how long they took to come."""

FEWEST = 3


@dataclass(frozen=True, slots=True)
class Usual:
    """Keys come `lag` after the date that `date_of` gives them; without it `words` say why nobody knows."""

    lag: timedelta | None
    words: str
    date_of: Callable[[str], datetime | None] = lambda _: None


def lengths(dag_ids: Collection[int]) -> dict[int, timedelta]:
    """How long runs of each Dag usually take; nothing while none has ended well. Two queries."""
    ended = DagRun.objects.filter(state=DagRun.State.SUCCESS).order_by("-pk")
    last = first_of_each(ended.filter(dag=dag_id)[:LAST] for dag_id in dag_ids)
    spans: dict[int, list[timedelta]] = {dag_id: [] for dag_id in dag_ids}
    runs = DagRun.objects.filter(pk__in=last)
    for dag_id, start, end in runs.values_list("dag_id", "started_at", "ended_at"):
        if start and end:
            spans[dag_id].append(end - start)
    return {dag_id: _middle(each) for dag_id, each in spans.items()}


def lags(assets: Iterable[Asset]) -> dict[int, Usual]:
    """How keys of each asset come. Four queries for every hundred assets."""
    by_pk = {asset.pk: asset for asset in assets}
    dates = _last_dates(by_pk)
    arrivals = _first_arrivals(dates)
    found, regular = {}, {}
    for pk in by_pk:
        after = sorted(at - dates[pk][key] for key, at in arrivals[pk].items())
        unknown = _no_pattern(after, sorted(dates[pk].values()))
        if unknown is None:
            regular[pk] = after
        else:
            found[pk] = Usual(None, unknown)
    date_of = dating.of_assets([by_pk[pk] for pk in regular])
    for pk, after in regular.items():
        words = f"the last {len(after)} partitions came as long after their dates"
        found[pk] = Usual(_middle(after), words, date_of[pk])
    return found


def _last_dates(asset_ids: Collection[int]) -> dict[int, dict[str, datetime]]:
    """The newest keys that have come, with their dates, by asset."""
    dated = Partition.objects.filter(partition_date__isnull=False, data_at__isnull=False)
    newest = first_of_each(
        dated.filter(asset=asset_id).order_by("-partition_date")[:LAST] for asset_id in asset_ids
    )
    found: dict[int, dict[str, datetime]] = {asset_id: {} for asset_id in asset_ids}
    for start in range(0, len(newest), PORTION * LAST):
        rows = Partition.objects.filter(pk__in=newest[start : start + PORTION * LAST])
        for asset_id, key, date in rows.values_list("asset", "key", "partition_date"):
            if date:
                found[asset_id][key] = date
    return found


def _first_arrivals(dates: Mapping[int, Mapping[str, datetime]]) -> dict[int, dict[str, datetime]]:
    """When the first event of each of these keys came, by asset."""
    found: dict[int, dict[str, datetime]] = defaultdict(dict)
    wanted = [Q(asset=asset_id, partition_key__in=list(keys)) for asset_id, keys in dates.items() if keys]
    for start in range(0, len(wanted), PORTION):
        which = Q()
        for each in wanted[start : start + PORTION]:
            which |= each
        events = AssetEvent.objects.filter(which).order_by().values_list("asset", "partition_key")
        for asset_id, key, at in events.annotate(Min("timestamp")):
            found[asset_id][key or ""] = at
    return found


def _no_pattern(lags: Sequence[timedelta], dates: Sequence[datetime]) -> str | None:
    """Why partitions that came so long after their dates say nothing about the next one; none if they do."""
    if len(lags) < FEWEST:
        return "no timetable makes it, and too few partitions with a time have come to tell by them"
    low, _, high = quantiles([lag.total_seconds() for lag in lags], n=4)
    apart = _middle([later - date for date, later in pairwise(dates)])
    if high - low > apart.total_seconds():
        return "no timetable makes it, and its partitions come at no regular time"
    return None


def _middle(spans: Sequence[timedelta]) -> timedelta:
    return sorted(spans)[len(spans) // 2] if spans else timedelta(0)
