"""Every list of the API, by a name of its own."""

from functools import partial

from django.http import QueryDict

from core.models import (
    Asset,
    AssetEvent,
    Backfill,
    BackfillPartition,
    Dag,
    DagRun,
    DefinitionSource,
    DynamicKey,
    HeldRun,
    Partition,
    Pool,
    ReceivedKey,
    Sensor,
    SensorLook,
)
from partitions_site.api import (
    absent,
    assets,
    backfills,
    dag_stats,
    dags,
    dynamic_keys,
    event_logs,
    events,
    grants,
    held_runs,
    import_errors,
    one_run,
    partitions,
    pools,
    queued_events,
    runs,
    sensors,
)
from partitions_site.models import Grant
from scheduling.belonging import EVERYTHING


def last_runs():
    return dags._listed(EVERYTHING, QueryDict("order_by=last_run_state"))


LISTS = {
    "assets": (assets.ASSETS, Asset.objects.all),
    "aliases": (assets.ALIASES, Asset.objects.none),
    "events": (events.EVENTS, AssetEvent.objects.all),
    "upstream events": (one_run.UPSTREAM, AssetEvent.objects.all),
    "partitions": (partitions.PARTITIONS, Partition.objects.all),
    "Dags": (dags.DAGS, last_runs),
    "Dag stats": (dag_stats.STATS, Dag.objects.all),
    "runs": (runs.RUNS, partial(runs.listed, EVERYTHING)),
    "held runs": (held_runs.HELD_RUNS, HeldRun.objects.all),
    "backfills": (backfills.BACKFILLS, Backfill.objects.all),
    "partitions of backfills": (backfills.PARTITIONS, BackfillPartition.objects.all),
    "dynamic keys": (dynamic_keys.KEYS, DynamicKey.objects.all),
    "journal": (event_logs.LOGS, partial(event_logs.logged, EVERYTHING)),
    "queued events": (queued_events.QUEUED, ReceivedKey.objects.all),
    "pools": (pools.POOLS, Pool.objects.all),
    "sensors": (sensors.SENSORS, Sensor.objects.all),
    "looks": (sensors.LOOKS, SensorLook.objects.all),
    "import errors": (import_errors.IMPORT_ERRORS, DefinitionSource.objects.all),
    "task instances": (absent.TASK_INSTANCES, DagRun.objects.none),
    "variables": (absent.VARIABLES, DagRun.objects.none),
    "grants": (grants.GRANTS, Grant.objects.all),
}
