"""Recorded worlds: definitions, events and looks of the scheduler, played by the engine step after step.

What Airflow does with a key that comes again is `late="restart"` here. Times are those of the steps: a second
each. Needs a database.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from core.models import Asset, AssetEvent, ConsumedEvent, Dag, DagRun, Dependency, HeldRun, MappingProblem
from scheduling import configuration, corrections, events, holds, refiling, runs
from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf, Leaf
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import PartitionedAssetTimetable, Timetable
from scheduling.events import EventReport
from scheduling.journal import Deed
from scheduling.listening import UNKEYED
from scheduling.runs import Ask
from tests.conformance.vectors import Answer

BEGIN = datetime(2024, 6, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
ANYBODY = Deed(by="anybody", via="api")
LAKE = "x://lake/"
MUCH = 1000

Step = dict[str, Any]


def play(scenario: Step) -> Answer:
    """What happens in a world: an answer for each step, and what is held at the end.

    :raises PartitionError: if one of its definitions is refused.
    """
    world = World(scenario)
    steps = [world.take(step) for step in scenario["steps"]]
    return {"steps": steps, "pending": world.held()}


class World:
    """`now` goes on by a second with each step."""

    def __init__(self, scenario: Step) -> None:
        self.now = BEGIN
        self.assets = {name: _asset(name) for name in scenario["assets"]}
        for dag_id, spec in scenario["dags"].items():
            self._define(Dag(dag_id=dag_id, created_at=BEGIN, updated_at=BEGIN), spec)

    def take(self, step: Step) -> Answer:
        self.now += SECOND
        try:
            return self.STEPS[step["do"]](self, step)
        except PartitionError as error:
            return {"error": type(error).__name__}

    def held(self) -> list[Answer]:
        """Every open held run of a partition-aware Dag, with the keys that came in this round."""
        found = []
        for row in HeldRun.objects.held().exclude(partition_key=UNKEYED).select_related("dag"):
            received: dict[str, list[str]] = {}
            for asset, key in row.received.filter(is_fresh=True).values_list("asset__name", "key"):
                received.setdefault(asset, []).append(key)
            found.append({"dag": row.dag.dag_id, "key": row.partition_key, "received": received})
        return found

    def _event(self, step: Step) -> Answer:
        keys = step["repeat_keys"] if "repeat_keys" in step else [step["key"]]
        reports = [EventReport(self.assets[step["asset"]], key) for key in keys]
        source = AssetEvent.Source.API
        made = events.register_events(reports, source=source, deed=ANYBODY, at=self.now)
        holds.route_pending(now=self.now, limit=MUCH, at_once=0)
        rows = [each.event for each in made]
        counted = ConsumedEvent.objects.filter(event__in=rows, held_run__state=HeldRun.State.HELD)
        targets = counted.exclude(held_run__partition_key=UNKEYED).values_list(
            "held_run__dag__dag_id", "held_run__partition_key"
        )
        problems = MappingProblem.objects.filter(event__in=rows).values_list("kind", flat=True)
        said: Answer = {"audit": list(problems)}
        if "repeat_keys" not in step:
            said["targets"] = [{"dag": dag, "key": key} for dag, key in targets]
        return said

    def _tick(self, step: Step) -> Answer:
        return self._new_runs(lambda: holds.judge_due(now=self.now, limit=MUCH))

    def _trigger(self, step: Step) -> Answer:
        ask = Ask(step["key"], run_id=step.get("run_id"))
        return self._new_runs(lambda: runs.trigger(self._dag(step), ask, deed=ANYBODY, at=self.now))

    def _finish(self, step: Step) -> Answer:
        found = DagRun.objects.filter(dag=self._dag(step), partition_key=step["key"]).select_related("dag")
        for run in found:
            corrections.mark(run, DagRun.State(step["state"]), deed=ANYBODY, at=self.now)
        return {"changed": len(found)}

    def _pause(self, step: Step) -> Answer:
        configuration.set_paused(self._dag(step), step["do"] == "pause", deed=ANYBODY, at=self.now)
        return {}

    def _redefine(self, step: Step) -> Answer:
        dag = self._dag(step)
        if "schedule" in step["spec"]:
            dag.dependencies.all().delete()
            dag.revision, dag.updated_at = dag.revision + 1, self.now
            self._define(dag, step["spec"])
            refiling.refile(dag, deed=ANYBODY, at=self.now)
            holds.judge_again([dag], at=self.now)
        return {}

    def _pending(self, step: Step) -> Answer:
        return {"pending": self.held()}

    STEPS: dict[str, Callable[[World, Step], Answer]] = {
        "event": _event,
        "tick": _tick,
        "trigger": _trigger,
        "api_trigger": _trigger,
        "finish": _finish,
        "pause": _pause,
        "unpause": _pause,
        "redefine": _redefine,
        "pending": _pending,
    }

    def _dag(self, step: Step) -> Dag:
        return Dag.objects.get(dag_id=step["dag"])

    def _define(self, dag: Dag, spec: Step) -> None:
        timetable = _timetable(spec.get("schedule"))
        dag.schedule = specs.dump(timetable) if timetable else None
        dag.is_partitioned = bool(timetable and (timetable.partitioned or timetable.at_runtime))
        dag.save()
        for leaf in timetable.assets.leaves() if hasattr(timetable, "assets") else ():
            asset = self._asset(leaf)
            mapper = None
            if isinstance(timetable, PartitionedAssetTimetable):
                mapper = specs.dump(timetable.mapper_for(leaf, name=asset.name, uri=asset.uri))
            Dependency.objects.create(
                dag=dag, asset=asset, leaf=specs.dump(leaf), mapper=mapper, created_at=self.now
            )

    def _asset(self, leaf: Leaf) -> Asset:
        name = leaf.name or leaf.uri.removeprefix(LAKE) if not isinstance(leaf, AssetLeaf) else leaf.name
        return self.assets.get(name) or _asset(name)

    def _new_runs(self, happens: Callable[[], object]) -> Answer:
        last = DagRun.objects.order_by("pk").values_list("pk", flat=True).last() or 0
        happens()
        new = DagRun.objects.filter(pk__gt=last).order_by("pk").select_related("dag")
        return {"runs": [_run(run) for run in new]}


def _asset(name: str) -> Asset:
    fields = {"uri": f"{LAKE}{name}", "created_at": BEGIN, "updated_at": BEGIN}
    return Asset.objects.get_or_create(name=name, defaults=fields)[0]


def _timetable(spec: Step | None) -> Timetable | None:
    if spec is None:
        return None
    if spec["type"] == "AssetList":
        spec = {"type": "AssetTimetable", "assets": {"all": spec["assets"]}}
    if spec["type"] == "PartitionedAssetTimetable":
        spec = spec | {"late": "restart"}
    found: Timetable = specs.load(spec, "timetable")
    return found


def _run(run: DagRun) -> Answer:
    """With the keys of the events that no round before has fired with."""
    consumed = ConsumedEvent.objects.filter(held_run__run=run)
    before = ConsumedEvent.objects.filter(
        held_run__dag=run.dag,
        held_run__partition_key=run.partition_key or UNKEYED,
        held_run__run__pk__lt=run.pk,
    )
    keys = consumed.exclude(event__in=before.values("event")).values_list("event__partition_key", flat=True)
    date = run.partition_date
    return {
        "dag": run.dag.dag_id,
        "key": run.partition_key,
        "partition_date": None if date is None else date.isoformat().replace("+00:00", "Z"),
        "run_type": run.run_type,
        "source_keys": [key or "" for key in keys],
    }
