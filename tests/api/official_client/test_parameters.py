"""What the official client can send with a request is known here: what is not known is ignored, silently."""

import inspect

import pytest
from airflow_client.client import api

from tests.api.paper import operations

APIS = [
    *(api.AssetApi, api.BackfillApi, api.DAGApi, api.DagRunApi, api.DagStatsApi, api.EventLogApi),
    *(api.MonitorApi, api.PoolApi, api.VersionApi),
]

LEFT_OUT = {
    *("delete_dag", "favorite_dag", "unfavorite_dag"),  # of Airflow's pages
    "bulk_pools",
}
"""What is not offered."""


def methods():
    for each in APIS:
        for name, method in inspect.getmembers(each, inspect.isfunction):
            if not name.startswith("_") and not name.endswith(("_with_http_info", "_content")):
                yield name, set(inspect.signature(method).parameters) - {"self"}


def sent(names):
    """What goes into the query: not the body, nor parts of the address, nor what the client is told."""
    return {each for each in names if not each.startswith("_") and not each.endswith("_body")}


@pytest.fixture(scope="module")
def described():
    """The parameters of each operation by its name, which is the client's name for it."""
    return {
        each["operationId"]: {parameter["name"] for parameter in each.get("parameters", ())}
        for _, _, each in operations()
        if "operationId" in each
    }


def test_every_method_is_offered_or_left_out(described):
    names = {name for name, _ in methods()}
    assert names - described.keys() == LEFT_OUT


@pytest.mark.parametrize(("name", "given"), [each for each in methods() if each[0] not in LEFT_OUT])
def test_every_parameter_is_known(described, name, given):
    known = described[name] | ({"dag_run_id"} if "run_id" in described[name] else set())
    if name == "get_list_dag_runs_batch":
        known |= {"dag_id"}  # always ~, part of the address
    assert sent(given) <= known
