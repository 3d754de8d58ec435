"""What the database itself refuses, whoever writes it: two open held runs of a key, two runs of a tick."""

import pytest
from django.apps import apps
from django.db import IntegrityError, connection, transaction
from django.db.models import CheckConstraint

from core.models import (
    AssetEvent,
    ConsumedEvent,
    DagRun,
    Dependency,
    FailedAttempt,
    HeldRun,
    MappingProblem,
    Outlet,
    Partition,
    ReceivedKey,
)
from tests.engine.world import IDENTITY, MINUTE, NOW, asset, consumer, emit, held, turn

pytestmark = pytest.mark.django_db

ELSEWHERE = {"Backfill", "BackfillTarget", "BackfillPartition", "DynamicKey", "DrawnBlock"}
"""Tables whose rules are tried out with what writes them."""


@pytest.fixture
def row(db):
    """The open held run of the key k, which has counted one event."""
    consumer("joined", {"a": IDENTITY, "b": IDENTITY})
    emit("a", "k")
    turn()
    return held("joined", "k")


def run_of(row, **fields):
    fields = {"run_id": f"r{DagRun.objects.count()}", "run_type": "manual", "state": "queued"} | fields
    return DagRun.objects.create(dag=row.dag, queued_at=NOW, run_after=NOW, updated_at=NOW, **fields)


def another(row, **fields):
    fields = {"round": row.round + 1, "opened_at": NOW, "last_event_at": NOW} | fields
    return HeldRun.objects.create(dag=row.dag, partition_key=row.partition_key, **fields)


def closed(row, **fields):
    HeldRun.objects.filter(pk=row.pk).update(**({"closed_at": NOW, "judge_after": None} | fields))


def twice(make):
    make()
    make()


def fails_twice(run):
    twice(lambda: FailedAttempt.objects.create(partition=Partition.objects.get(), run=run, begun_at=NOW))


BROKEN = {
    "one_open_held_run_per_dag_and_key": lambda row: another(row),
    "a_round_happens_once": lambda row: another(row, round=row.round, state="cancelled", closed_at=NOW),
    "a_fired_held_run_has_its_run": lambda row: closed(row, state="fired", run=None),
    "an_open_held_run_is_not_closed": lambda row: closed(row),
    "a_key_counts_once_per_held_run": lambda row: ReceivedKey.objects.create(
        held_run=row, asset=asset("a"), key="k", received_at=NOW
    ),
    "an_event_counts_once_per_held_run": lambda row: ConsumedEvent.objects.create(
        held_run=row, event=AssetEvent.objects.get()
    ),
    "a_tick_is_unique_per_dag_and_instant": lambda row: twice(lambda: run_of(row, tick_at=NOW)),
    "a_run_id_is_unique_in_its_dag": lambda row: twice(lambda: run_of(row, run_id="mine")),
    "a_running_run_has_a_lease": lambda row: run_of(row, state="running", lease_until=None),
    "a_run_key_is_never_empty": lambda row: run_of(row, partition_key=""),
    "a_run_has_one_key_or_a_range_of_them": lambda row: run_of(row, partition_key="a", partition_keys=["a"]),
    "one_event_per_asset_and_idempotency_key": lambda row: twice(
        lambda: AssetEvent.objects.create(asset=asset("a"), idempotency_key="x", timestamp=NOW, source="api")
    ),
    "an_event_key_is_never_empty": lambda row: AssetEvent.objects.update(partition_key=""),
    "one_state_per_asset_and_key": lambda row: Partition.objects.create(
        asset=asset("a"), key="k", updated_at=NOW
    ),
    "a_partition_key_is_never_empty": lambda row: Partition.objects.update(key=""),
    "an_attempt_fails_once": lambda row: fails_twice(run_of(row)),
    "one_problem_per_event_and_dag": lambda row: twice(
        lambda: MappingProblem.objects.create(
            event=AssetEvent.objects.get(), dag=row.dag, kind="missing partition key", at=NOW
        )
    ),
    "a_dag_listens_once_to_an_asset": lambda row: Dependency.objects.create(
        dag=row.dag, asset=asset("a"), leaf={"asset": "a"}, mapper=IDENTITY, created_at=NOW
    ),
    "a_task_writes_an_asset_once": lambda row: twice(
        lambda: Outlet.objects.create(dag=row.dag, asset=asset("a"), task_id="write")
    ),
}


def constraints():
    """Every rule of the tables of the engine, by name."""
    return {
        each.name: each
        for model in apps.get_app_config("core").get_models()
        if model.__name__ not in ELSEWHERE
        for each in model._meta.constraints
    }


def told(name: str) -> str:
    """How the database names it: SQLite names the columns of what must be unique."""
    rule = constraints()[name]
    if connection.vendor == "postgresql" or isinstance(rule, CheckConstraint):
        return name
    return "UNIQUE constraint failed: .*" + r".*".join(each.name for each in rule.expressions)


def test_every_rule_is_tried_out():
    assert BROKEN.keys() == constraints().keys()


@pytest.mark.parametrize("name", BROKEN)
def test_is_refused(row, name):
    with pytest.raises(IntegrityError, match=told(name)), transaction.atomic():
        BROKEN[name](row)


def test_the_world_as_it_is_breaks_none(row):
    emit("b", "k", at=NOW + MINUTE)
    turn(NOW + MINUTE)
    connection.check_constraints()
    assert DagRun.objects.get().held_runs.get() == row
