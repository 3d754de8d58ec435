"""The official Python client of Airflow, unchanged, signed in to this site over HTTP."""

import pytest
from airflow_client import client as airflow
from airflow_client.client.api import AssetApi
from rest_framework.test import APIClient

from core.models import Asset
from partitions_site import roles


@pytest.fixture
def connect(live_server, user_of):
    """Signs a role in as scripts do and gives the client's connection."""

    def connect(role=roles.EDITOR):
        user_of(role)
        answer = APIClient().post("/auth/token", {"username": role, "password": f"{role}-secret"})
        configuration = airflow.Configuration(
            host=live_server.url, access_token=answer.json()["access_token"]
        )
        return airflow.ApiClient(configuration)

    return connect


@pytest.fixture
def client(lab, connect):
    return connect()


@pytest.fixture
def report(client, settle):
    def report(name, *keys):
        assets = AssetApi(client)
        for key in keys:
            body = airflow.CreateAssetEventsBody(
                asset_id=Asset.objects.get(name=name).pk, partition_key=key, extra={"rows": 1}
            )
            assert assets.create_asset_event(body).partition_key == key
        settle()

    return report
