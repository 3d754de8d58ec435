"""Asks each address about things that there are (`groups.build`), with a body that would do something."""

import re

PREFIX = "api/v2/"


def bearer(token):
    """What a request says that brings a token."""
    return {"HTTP_AUTHORIZATION": f"Bearer {token}"}


def filled(address, things):
    """The address of things; `name` is only the name of dynamic partitions here, the rest are sensors."""
    named = things | {"name": things["partitions"]}
    path = re.sub(r"<\w+:(\w+)>", lambda match: str(named[match[1]]), address)
    query = {
        "ui/pending_partitioned_dag_run/<str:dag_id>": f"partition_key={things['key']}",
        "api/v2/backfills": "dag_id=~",
        "api/v2/dags": "dag_id_pattern=~",
        "api/v2/heldRuns": "keys=true",
    }.get(address, f"partition_key={things['key']}" if "delete" in things else "")
    return f"/{path}?{query}"


def body_of(address, method, things):
    """A body that would do something, so that nothing else is wrong with the request."""
    dag_id, of_asset = things["dag_id"], {"asset_id": things["asset_id"], "partition_key": "k"}
    entity = {"dag_id": dag_id, "dag_run_id": things["run_id"], "note": "n"}
    return {
        ("assets/events", "post"): of_asset,
        ("assets/events/bulk", "post"): [of_asset],
        ("backfills", "post"): {"dag_id": dag_id, "partition_keys": ["c"]},
        ("backfills/dry_run", "post"): {"dag_id": dag_id, "partition_keys": ["c"]},
        ("backfills/<str:backfill_id>", "patch"): {"max_active_runs": 3},
        ("dags", "patch"): {"is_paused": True},
        ("dags/<str:dag_id>", "patch"): {"is_paused": True},
        ("dags/<str:dag_id>/schedule", "put"): {"schedule": None, "reason": "r", "revision": 1},
        ("dags/<str:dag_id>/clearDagRuns", "post"): {"partition_key": things["key"], "dry_run": False},
        ("dags/<str:dag_id>/clearPartitions", "post"): {"partition_key": things["key"], "dry_run": False},
        ("dags/<str:dag_id>/dagRuns", "patch"): {"actions": [{"action": "update", "entities": [entity]}]},
        ("dags/<str:dag_id>/dagRuns", "post"): {"partition_key": "c"},
        ("dags/<str:dag_id>/dagRuns/<str:run_id>", "patch"): {"note": "n"},
        ("dags/<str:dag_id>/dagRuns/<str:run_id>/clear", "post"): {"dry_run": False},
        ("assets/<str:asset_id>/materialize", "post"): {"partition_key": "c"},
        ("runs/claim", "post"): {"worker": "w", "dag_ids": [dag_id]},
        ("runs/<str:run_pk>/heartbeat", "post"): {"worker": "w", "attempt": 1},
        ("runs/<str:run_pk>/finish", "post"): {"worker": "w", "attempt": 1, "state": "success"},
        ("partitionsDefinitions/<str:name>/keys", "post"): {"partition_keys": ["c"]},
    }.get((address.removeprefix(PREFIX), method), {})


def ask(client, address, method, things):
    if method == "delete":
        things = things | {"delete": True}
    return getattr(client, method)(filled(address, things), body_of(address, method, things))
