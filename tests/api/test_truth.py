"""What the API answers is what its own description says, down to the last field."""

import json
import re
from functools import cache

import pytest
from django.utils import timezone
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from core.models import DagRun
from partitions_site import roles
from scheduling import claims
from tests.api.paper import paper

pytestmark = pytest.mark.django_db


@cache
def schema():
    return json.loads(json.dumps(paper(), default=str))


@cache
def validator(reference):
    """Checks one answer of the description; what it refers to is looked up in the whole of it."""
    whole = {"$ref": reference, "components": schema()["components"], "paths": schema()["paths"]}
    return Draft202012Validator(whole)


def described(method, url, status):
    """Where the description speaks of this answer."""
    path = url.partition("?")[0]
    for known, methods in sorted(schema()["paths"].items(), key=lambda each: each[0].count("{")):
        if method in methods and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", known), path):
            answers = methods[method]["responses"]
            assert str(status) in answers, f"{method} {known} does not know {status}: {sorted(answers)}"
            escaped = known.replace("~", "~0").replace("/", "~1")
            return f"#/paths/{escaped}/{method}/responses/{status}/content/application~1json/schema"
    raise AssertionError(f"{method} {path} is not described")


@pytest.fixture
def told(lab, user_of):
    """A client whose every answer is compared with the description, and with its names of fields."""

    class Told(APIClient):
        def generic(self, method, path, *args, **kwargs):
            answer = super().generic(method, path, *args, **kwargs)
            if answer.content and answer.headers["Content-Type"] == "application/json":
                reference = described(method.lower(), path, answer.status_code)
                problems = [error.message for error in validator(reference).iter_errors(answer.json())]
                assert problems == [], f"{method} {path}"
                assert unnamed(answer.json(), resolved(reference)) == [], f"{method} {path}"
            return answer

    client = Told()
    client.force_authenticate(user_of(roles.ADMIN))
    return client


def resolved(reference):
    part = schema()
    for step in reference.removeprefix("#/").split("/"):
        part = part[step.replace("~1", "/").replace("~0", "~")]
    return resolved(part["$ref"]) if "$ref" in part else part


def unnamed(found, part, where=""):
    """Fields that were answered and that the description does not name."""
    if "$ref" in part:
        part = resolved(part["$ref"])
    if isinstance(found, list):
        return [each for item in found for each in unnamed(item, part.get("items", {}), f"{where}[]")]
    if not isinstance(found, dict) or "properties" not in part:
        return []
    names = part["properties"]
    beyond = [f"{where}.{name}" for name in found if name not in names]
    return beyond + [
        each
        for name in found
        if name in names
        for each in unnamed(found[name], names[name], f"{where}.{name}")
    ]


@pytest.fixture
def world(told, lab, settle):
    """Something of everything: events, held runs, runs in several states, tokens, deeds."""
    for key in ("tw", "jp"):
        body = {"asset_id": lab["regional_orders"].pk, "partition_key": key, "extra": {"rows": 1}}
        told.post("/api/v2/assets/events", body)
    told.post("/api/v2/assets/events", {"asset_id": lab["plain_asset"].pk})
    told.post("/api/v2/assets/events", {"asset_id": lab["hourly_sales"].pk, "partition_key": "not-a-date"})
    for key in ("2026-03-10T09:00:00", "2026-03-11T09:00:00"):
        told.post(
            "/api/v2/dags/lab_hourly_sales/dagRuns", {"partition_key": key, "note": "x", "conf": {"a": 1}}
        )
    run = claims.claim(DagRun.objects.earliest("pk").pk, worker="w", now=timezone.now())
    claims.fail(run, "boom", at=timezone.now())
    settle()
    return lab


READS = [
    "/api/v2/version",
    "/api/v2/monitor/health",
    "/livez",
    "/readyz",
    "/auth/tokens",
    "/api/v2/config",
    "/api/v2/assets",
    "/api/v2/assets?order_by=nope",
    "/api/v2/assets?limit=-1",
    "/api/v2/assets/{regional_orders}",
    "/api/v2/assets/0",
    "/api/v2/assets/x",
    "/api/v2/assets/aliases",
    "/api/v2/assets/events",
    "/api/v2/assets/events?cursor=&limit=1",
    "/api/v2/assets/{regional_orders}/partitions",
    "/api/v2/assets/{regional_orders}/partitions?summary=true",
    "/api/v2/assets/{plain_asset}/queuedEvents",
    "/api/v2/dags",
    "/api/v2/dags/lab_hourly_sales",
    "/api/v2/dags/nope",
    "/api/v2/dags/lab_and_of_three/details",
    "/api/v2/dags/lab_plain/details",
    "/api/v2/dags/lab_plain_consumer/assets/queuedEvents",
    "/api/v2/dags/lab_plain_consumer/assets/{plain_asset}/queuedEvents",
    "/api/v2/dags/~/dagRuns",
    "/api/v2/dags/~/dagRuns?cursor=&limit=1",
    "/api/v2/dags/~/dagRuns?state=x",
    "/api/v2/dagStats",
    "/api/v2/heldRuns",
    "/api/v2/heldRuns?keys=true",
    "/api/v2/heldRuns?state=cancelled",
    "/api/v2/eventLogs",
    "/ui/partitioned_dag_runs",
    "/ui/pending_partitioned_dag_run/lab_region_rollup?partition_key=all_regions",
    "/ui/next_run_assets/lab_region_rollup",
    "/ui/next_run_assets/lab_plain",
]


class TestReads:
    @pytest.mark.parametrize("url", READS)
    def test_answer_what_is_described(self, told, world, url):
        ids = {name: asset.pk for name, asset in world.items()}
        told.get(url.format(**ids))

    def test_of_one_of_each(self, told, world):
        [run] = told.get("/api/v2/dags/lab_hourly_sales/dagRuns?state=failed").json()["dag_runs"]
        address = f"/api/v2/dags/lab_hourly_sales/dagRuns/{run['dag_run_id'].replace('+', '%2B')}"
        told.get(address)
        told.get(f"{address}/upstreamAssetEvents")
        [held] = told.get("/api/v2/heldRuns?dag_id=lab_region_rollup").json()["held_runs"]
        told.get(f"/api/v2/heldRuns/{held['id']}")
        entry = told.get("/api/v2/eventLogs?limit=1").json()["event_logs"][0]
        told.get(f"/api/v2/eventLogs/{entry['event_log_id']}")


class TestWrites:
    def test_to_runs(self, told, world):
        [run] = told.get("/api/v2/dags/lab_hourly_sales/dagRuns?state=failed").json()["dag_runs"]
        address = f"/api/v2/dags/lab_hourly_sales/dagRuns/{run['dag_run_id'].replace('+', '%2B')}"
        told.patch(address, {"note": "y"})
        told.patch(address, {"state": "running"})
        told.post(f"{address}/clear", {})
        told.post(f"{address}/clear", {"dry_run": False})
        told.post(f"{address}/clear", {"dry_run": False})
        by_key = {"partition_key": "2026-03-10T09:00:00"}
        told.post("/api/v2/dags/lab_hourly_sales/clearDagRuns", by_key)
        told.post("/api/v2/dags/lab_hourly_sales/clearPartitions", by_key)
        told.post("/api/v2/dags/~/dagRuns/list", {})
        entity = {"dag_id": "lab_hourly_sales", "dag_run_id": run["dag_run_id"], "note": "z"}
        told.patch(
            "/api/v2/dags/~/dagRuns", {"actions": [{"action": "update", "entities": [entity, "nope"]}]}
        )
        told.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "x"})
        told.post("/api/v2/dags/lab_plain/dagRuns", {"dag_run_id": "x"})
        told.delete("/api/v2/dags/lab_plain/dagRuns/x")

    def test_to_held_runs(self, told, world):
        [held] = told.get("/api/v2/heldRuns?dag_id=lab_region_rollup").json()["held_runs"]
        for deed in ("reevaluate", "cancel", "fire"):
            told.post(f"/api/v2/heldRuns/{held['id']}/{deed}", {} if deed != "reevaluate" else None)

    def test_to_dags_and_assets(self, told, world):
        told.patch("/api/v2/dags/lab_plain", {"is_paused": True})
        told.patch("/api/v2/dags?dag_id_pattern=plain", {"is_paused": False})
        told.post(
            f"/api/v2/assets/{world['hourly_sales'].pk}/materialize", {"partition_key": "2026-03-10T11:00:00"}
        )
        told.post(f"/api/v2/assets/{world['sales_data'].pk}/materialize", {})
        event = {"asset_id": world["plain_asset"].pk, "idempotency_key": "x"}
        told.post("/api/v2/assets/events", event)
        told.post("/api/v2/assets/events", event)
        told.post("/api/v2/assets/events/bulk", [event])
        told.post("/api/v2/assets/events/bulk", [{}])
        told.delete("/api/v2/dags/lab_plain_consumer/assets/queuedEvents")

    def test_to_tokens(self, told, user_of):
        made = told.post("/auth/tokens", {"name": "x", "days": 1}).json()
        told.get("/auth/tokens")
        told.delete(f"/auth/tokens/{made['id']}")
        told.post("/auth/token", {"username": "admin", "password": "admin-secret"})
        told.post("/auth/token", {"username": "admin"})
        told.post("/auth/token/cli", {"username": "admin", "password": "wrong"})
