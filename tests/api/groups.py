"""Two groups of assets with everything that a site has of each, and people with roles for one of them."""

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import AssetEvent, Backfill, Dag, DagRun, HeldRun, JournalEntry, Sensor
from partitions_site.models import Grant
from scheduling import backfills, dynamic, runs
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from scheduling.journal import Deed
from scheduling.runs import Ask
from tests.engine.world import IDENTITY, MINUTE, REGIONS, asset, consumer, dag, emit, turn

OURS, THEIRS = "ours", "theirs"
MARK = "zz" + THEIRS
"""Begins whatever is called by somebody of the other group, and the other group itself."""


def granted(role: str, group: str = OURS, name: str = "ann") -> User:
    """Somebody who has a role for a group of assets, and none for the site."""
    user, _ = User.objects.get_or_create(username=name)
    Grant.objects.get_or_create(user=user, asset_group=group if group == OURS else MARK, role=role)
    return User.objects.get(pk=user.pk)


def build(mark: str) -> dict[str, Any]:
    """One group called `mark`; the numbers and names of what is in it, as addresses name them."""
    now = timezone.now()
    asset(f"{mark}_in", group=mark)
    keyed = specs.dump(DynamicPartitions(f"{mark}_names"))
    written = asset(f"{mark}_out", group=mark, partitions=keyed)
    consumer(f"{mark}_sum", {f"{mark}_in": REGIONS}, writes=[f"{mark}_out"])
    consumer(f"{mark}_end", {f"{mark}_out": IDENTITY})
    plain = dag(f"{mark}_plain", {"type": "PartitionedAtRuntime"}, writes=[f"{mark}_out"])
    problem = {"code": "x", "level": "error", "sentence": f"{mark} is wrong"}
    outside = {"executor": "external", "problems": [problem]}
    Dag.objects.filter(pk=plain.pk).update(**outside)
    emit(f"{mark}_in", "tw", f"{mark}_odd", at=now)
    turn(now)
    by = Deed(by=f"{mark}_person")
    dynamic.add(f"{mark}_names", [f"{mark}_key", f"{mark}_b", "c", "k", "x", "secret"], deed=by, at=now)
    run = runs.trigger(plain, Ask(f"{mark}_key", run_id=f"{mark}_run"), deed=by, at=now)
    ask = backfills.Ask((plain,), keys=(f"{mark}_b",))
    backfill = backfills.start(ask, deed=by, at=now)
    times = dict.fromkeys(("next_look_at", "created_at", "updated_at"), now)
    Sensor.objects.create(name=f"{mark}_sensor", every=MINUTE, timeout=MINUTE, **times)
    return {
        "asset_id": written.pk,
        "asset": written.name,
        "dag_id": plain.dag_id,
        "run_id": run.run_id,
        "run_pk": run.pk,
        "held_run_id": HeldRun.objects.get(dag__dag_id=f"{mark}_sum").pk,
        "event_id": AssetEvent.objects.filter(asset__name=f"{mark}_in").latest("pk").pk,
        "backfill_id": backfill.pk,
        "event_log_id": JournalEntry.objects.filter(dag_id=plain.dag_id).latest("pk").pk,
        "partitions": f"{mark}_names",
        "key": f"{mark}_key",
    }


def state() -> tuple[Any, ...]:
    """What a deed would have changed."""
    return (
        JournalEntry.objects.count(),
        AssetEvent.objects.count(),
        list(DagRun.objects.order_by("pk").values_list("state", "note", "partition_key")),
        list(HeldRun.objects.order_by("pk").values_list("state")),
        list(Backfill.objects.order_by("pk").values_list("is_paused", "cancelled_at", "max_active_runs")),
        list(Dag.objects.order_by("pk").values_list("is_paused", "revision")),
    )


def client_of(user):
    client = APIClient()
    client.force_authenticate(user)
    return client
