"""Plays the recorded requests of `wire/` against this site, in the order in which they were recorded."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import Group, User
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import Asset, Dag, DagRun
from scheduling import claims, definitions, holds, runs, ticks
from scheduling.journal import Deed

WIRE = Path(__file__).with_name("wire")
LAB = str(Path(__file__).with_name("lab.py"))

RECORDED_IDS = {
    1: "sales_data",
    2: "inventory_data",
    3: "pricing_data",
    4: "hourly_sales",
    5: "daily_sales_summary",
    6: "plain_asset",
    7: "regional_orders",
    8: "all_orders",
}
RECORDED_RUN = re.compile(r"asset_triggered__2026-11-29T11:57:38\.718373\+00:00_zJ4unVZO")


@dataclass(frozen=True)
class Played:
    """A recording, and what this site answered."""

    name: str
    recorded: dict[str, Any]
    status: int
    body: Any


def recordings() -> list[Path]:
    return sorted(WIRE.glob("*.json"))


def play() -> Iterator[Played]:
    """Every recording in order, each after whatever happened before it when it was made."""
    Story().prepare()
    for path in recordings():
        story = Story()
        for prefix, happening in HAPPENINGS.items():
            if path.name.startswith(prefix):
                happening(story)
        story.settle()
        recorded = json.loads(path.read_text())
        answer = story.ask(recorded["request"])
        yield Played(path.stem, recorded["response"], answer.status_code, answer.json())


class Story:
    """What went on between the requests that were recorded."""

    def prepare(self) -> None:
        for name in ("admin", "viewer"):
            user = User.objects.create_user(name, password="admin")
            user.groups.add(Group.objects.get(name=name))
        definitions.sync([LAB], at=timezone.now())
        ticks.advance(now=timezone.now())

    def ask(self, request: dict[str, Any]) -> Any:
        url = RECORDED_RUN.sub(self._run_id(), request["url"])
        url = re.sub(
            r"(?<=assets/)\d+(?=$|/)|(?<=asset_id=)\d+", lambda found: self._asset_id(int(found[0])), url
        )
        body = request["body"]
        if isinstance(body, dict) and body.get("asset_id") in RECORDED_IDS:
            body = body | {"asset_id": int(self._asset_id(body["asset_id"]))}
        return self._client(request, url).generic(
            request["method"], url, "" if body is None else json.dumps(body), content_type="application/json"
        )

    def settle(self) -> None:
        while holds.route_pending(now=timezone.now()) or holds.judge_due(now=timezone.now()):
            pass

    def event(self, asset: str, key: str | None, **extra: Any) -> None:
        body = {"asset_id": Asset.objects.get(name=asset).pk, "partition_key": key}
        client = APIClient()
        client.force_authenticate(User.objects.get(username="admin"))
        assert client.post("/api/v2/assets/events", body | extra).status_code == 200

    def runs_end(self, dag_id: str) -> None:
        self.settle()
        for run in DagRun.objects.filter(state=DagRun.State.QUEUED, dag__dag_id=dag_id):
            claimed = claims.claim(run.pk, worker="w", now=timezone.now())
            if claimed:
                claims.succeed(claimed, [], at=timezone.now())

    def hours(self, *numbers: int) -> None:
        for number in numbers:
            self.event("hourly_sales", f"2026-03-10T{number:02}:00:00")

    def plain_run(self) -> None:
        runs.trigger(
            Dag.objects.get(dag_id="lab_plain"), runs.Ask(), deed=Deed("admin", "api"), at=timezone.now()
        )
        self.runs_end("lab_plain")

    def unmappable(self) -> None:
        self.event("hourly_sales", "not-a-date")

    def _client(self, request: dict[str, Any], url: str) -> APIClient:
        client = APIClient()
        if not request["authorized"]:
            return client
        if request["url"] == "/api/v2/assets" and request["method"] == "GET" and self._is_forged(request):
            client.credentials(HTTP_AUTHORIZATION="Bearer nonsense")
        else:
            name = "viewer" if request.get("as_viewer") else "admin"
            client.force_authenticate(User.objects.get(username=name))
        return client

    def _is_forged(self, request: dict[str, Any]) -> bool:
        return bool(request.get("forged"))

    def _asset_id(self, recorded: int) -> str:
        name = RECORDED_IDS.get(recorded)
        return str(Asset.objects.get(name=name).pk) if name else str(recorded)

    def _run_id(self) -> str:
        run = DagRun.objects.filter(dag__dag_id="lab_region_rollup", run_type="asset_triggered").first()
        return run.run_id.replace("+", "%2B") if run else "none"


HAPPENINGS: dict[str, Callable[[Story], None]] = {
    "070": lambda story: story.event("regional_orders", "eu"),
    "075": lambda story: story.event("regional_orders", "jp", extra={"rows": 1}),
    "086": lambda story: story.runs_end("lab_region_rollup"),
    "104": lambda story: story.event("sales_data", "2024-01-15"),
    "107": lambda story: story.event("sales_data", "2024-01-16"),
    "118": lambda story: story.hours(*range(21)),
    "129": lambda story: story.runs_end("lab_and_of_three"),
    "138": Story.plain_run,
    "197": Story.unmappable,
}
"""What happened just before a recording, by the number it begins with."""
