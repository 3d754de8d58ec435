"""Many updates and deletions of runs in one request, each with its own outcome."""

from typing import Any

from django.utils import timezone
from rest_framework import serializers
from rest_framework.exceptions import NotFound, PermissionDenied
from rest_framework.request import Request

from core.models import DagRun
from partitions_site.api.auth import check_may, deed, may
from partitions_site.api.errors import Invalid, problem
from partitions_site.api.fields import OneOf
from partitions_site.api.forms import Form
from partitions_site.api.one_run import change
from partitions_site.api.runs import MOST_RUNS, RunRefIn, find_run
from scheduling import corrections
from scheduling.algebra.errors import PartitionError


class EntityIn(RunRefIn):
    """A run: its id alone, or an object."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value({"dag_run_id": data} if isinstance(data, str) else data)


class ActionIn(Form):
    action = OneOf(choices=["update", "delete"])
    entities = EntityIn(many=True)
    update_mask = serializers.ListField(
        child=OneOf(choices=["state", "note"]), required=False, allow_null=True
    )
    action_on_non_existence = OneOf(choices=["fail", "skip"], required=False, default="fail")


class BulkIn(Form):
    actions = ActionIn(many=True)


class BulkErrorOut(serializers.Serializer[Any]):
    error = serializers.CharField()
    status_code = serializers.IntegerField()


class OutcomeOut(serializers.Serializer[Any]):
    success = serializers.ListField(child=serializers.CharField())
    errors = BulkErrorOut(many=True)  # type: ignore[assignment]


class BulkRunsOut(serializers.Serializer[Any]):
    create = OutcomeOut(allow_null=True)  # type: ignore[assignment]
    update = OutcomeOut(allow_null=True)  # type: ignore[assignment]
    delete = OutcomeOut(allow_null=True)


def carry_out(actions: list[dict[str, Any]], request: Request, dag_id: str | None) -> dict[str, Any]:
    """Do each action; what fails of one does not hold up the others.

    :param dag_id: the Dag of all runs; None if every entity names its own.
    :raises PermissionDenied: before anything is done, if runs are to be deleted and may not be.
    :raises Invalid: for more than `MOST_RUNS` runs at a time.
    """
    named = sum(len(action["entities"]) for action in actions)
    if named > MOST_RUNS:
        raise Invalid([problem("too_long", ["body", "actions"], f"At most {MOST_RUNS} runs, not {named}")])
    if any(action["action"] == "delete" for action in actions) and not may(request, DELETE):
        raise PermissionDenied
    outcomes: dict[str, Any] = {"create": None, "update": None, "delete": None}
    for action in actions:
        outcome = outcomes[action["action"]] or {"success": [], "errors": []}
        outcomes[action["action"]] = outcome
        _act(action, request, dag_id, outcome)
    return outcomes


DELETE = "core.delete_dagrun"


def _act(action: dict[str, Any], request: Request, dag_id: str | None, outcome: dict[str, Any]) -> None:
    found, absent, refused = _found(action, request, dag_id)
    if absent and action["action_on_non_existence"] == "fail":
        words = f"The DagRuns with these identifiers: {absent} were not found"
        outcome["errors"].append({"error": words, "status_code": 404})
        return
    for run_id in refused:
        outcome["errors"].append({"error": f"{run_id}: Forbidden", "status_code": 403})
    for run, entity in found:
        try:
            _act_on(run, entity, action, request)
        except PartitionError as error:
            outcome["errors"].append({"error": str(error), "status_code": 409})
        else:
            outcome["success"].append(f"{run.dag.dag_id}.{run.run_id}")


def _act_on(run: DagRun, entity: dict[str, Any], action: dict[str, Any], request: Request) -> None:
    if action["action"] == "delete":
        corrections.delete(run, deed=deed(request), at=timezone.now())
        return
    mask = action.get("update_mask") or ["state", "note"]
    change(run, {name: entity.get(name) for name in mask}, request)


Found = list[tuple[DagRun, dict[str, Any]]]


def _found(
    action: dict[str, Any], request: Request, dag_id: str | None
) -> tuple[Found, list[tuple[str, str]], list[str]]:
    """The runs that an action names; the names of those that are not there, and of those it may not touch."""
    found, absent, refused = [], [], []
    for entity in action["entities"]:
        name = (dag_id or entity.get("dag_id") or "", entity["dag_run_id"])
        try:
            run = find_run(request, *name)
            if action["action"] == "delete":
                check_may(request, run, DELETE)
            found.append((run, entity))
        except NotFound:
            absent.append(name)
        except PermissionDenied:
            refused.append(".".join(name))
    return found, absent, refused
