"""The definitions of `lab.py` in a database, and clients for each role."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.utils import timezone
from rest_framework.test import APIClient

from core.models import Asset, DagRun
from partitions_site import roles
from scheduling import claims
from tests.api.defining import LAB, define, settle_all
from tests.api.groups import MARK, OURS, THEIRS, build
from tests.api.listed import NAMES, NOW
from tests.api.scheduled import URL
from tests.backfills.play import daily, producer
from tests.engine.world import RUNTIME, dag


@pytest.fixture
def lab(db: None) -> dict[str, Asset]:
    """The lab's assets by name, its Dags unpaused."""
    define(LAB)
    return {asset.name: asset for asset in Asset.objects.all()}


@pytest.fixture
def user_of(db: None) -> Callable[[str], User]:
    """A user of a role, made when first asked for."""

    def user_of(role: str) -> User:
        user, is_new = User.objects.get_or_create(username=role)
        if is_new:
            user.set_password(f"{role}-secret")
            user.save()
            user.groups.add(Group.objects.get(name=role))
        return user

    return user_of


@pytest.fixture
def api_of(user_of: Callable[[str], User]) -> Callable[[str], APIClient]:
    def api_of(role: str) -> APIClient:
        client = APIClient()
        client.force_authenticate(user_of(role))
        return client

    return api_of


@pytest.fixture
def api(api_of: Callable[[str], APIClient]) -> APIClient:
    """A client that may do everything that operators may."""
    return api_of(roles.OPERATOR)


@pytest.fixture
def admin(api_of: Callable[[str], APIClient]) -> APIClient:
    return api_of(roles.ADMIN)


@pytest.fixture
def anyone() -> APIClient:
    return APIClient()


@pytest.fixture
def settle() -> Callable[[], None]:
    """Lets the engine do all it would do now: map events, judge what they touched."""
    return settle_all


@pytest.fixture
def emit(api, lab, settle):
    """Reports events of one of the lab's assets, and lets the engine do what follows."""

    def emit(name, *keys):
        for key in keys:
            body = {"asset_id": lab[name].pk, "partition_key": key}
            assert api.post("/api/v2/assets/events", body).status_code == 200
        settle()

    return emit


@pytest.fixture
def schedule(admin, lab):
    """How the lab's daily sales listen, as an answer tells it."""
    return admin.get(URL).json()


@pytest.fixture
def ended():
    """Ends the run that an answer speaks of, well unless told otherwise, after a minute."""

    def ended(answer, *, error=""):
        at = timezone.now()
        run = claims.claim(DagRun.objects.get(run_id=answer["dag_run_id"]).pk, worker="w", now=at)
        if error:
            claims.fail(run, error, at=at + timedelta(minutes=1))
        else:
            claims.succeed(run, [], at=at + timedelta(minutes=1))
        return answer

    return ended


@pytest.fixture
def load(db):
    """A Dag that writes the first ten days of March 2026."""
    return producer(writes=daily(end="2026-03-11").name)


@pytest.fixture
def external(db):
    """A Dag whose runs other systems execute."""
    return dag("load", RUNTIME, writes=["out", "aside"], executor="external")


@pytest.fixture(scope="module")
def groups(db_of_the_file: None) -> dict[str, dict[str, Any]]:
    """Written once for a file: what a test does to them is undone."""
    return {OURS: build(OURS), THEIRS: build(MARK)}


@pytest.fixture
def assets():
    rows = [Asset(name=name, uri=f"s3://{name}", created_at=NOW, updated_at=NOW) for name in NAMES]
    return Asset.objects.bulk_create(rows)
