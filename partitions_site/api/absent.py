"""Lists of Airflow's that are empty here: runs have no rows for their tasks, and nothing keeps variables."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from core.models import DagRun
from partitions_site.api.auth import OWN, Address
from partitions_site.api.pages import Listing


class NothingOut(serializers.Serializer[Any]):
    """A row that there never is."""

    id = serializers.CharField()


TASK_INSTANCES = Listing(noun="task_instances", out=NothingOut, orders={"id": "id"})
VARIABLES = Listing(noun="variables", out=NothingOut, orders={"id": "id"})


class TaskInstances(Address):
    """`/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances`."""

    within = OWN

    @TASK_INSTANCES.described("get_task_instances", "Task instances: none")
    def get(self, request: Request, dag_id: str, run_id: str) -> Response:
        return TASK_INSTANCES.answer(request, DagRun.objects.none())


class Variables(Address):
    """`/api/v2/variables`."""

    within = OWN

    @VARIABLES.described("get_variables", "Variables: none")
    def get(self, request: Request) -> Response:
        return VARIABLES.answer(request, DagRun.objects.none())
