"""Rules that every write keeps: the journal says who and how, and no field is taken that it does not know."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from core.models import Backfill, DagRun, Dependency, JournalEntry
from partitions_site import roles
from partitions_site.api.auth import A_READ
from partitions_site.models import ApiToken, Grant
from scheduling import backfills, elsewhere
from tests.api.addresses import OPEN, addresses
from tests.api.asking import PREFIX, body_of, filled
from tests.api.groups import OURS, client_of, granted
from tests.api.paper import operations
from tests.engine.world import ALICE, NOW, REGIONS, RUNTIME, asset, dag, emit, turn

pytestmark = pytest.mark.django_db

WRITES = [
    (address, method)
    for address, view, method in addresses()
    if method != "get" and address not in OPEN and view.needs.get(method.upper()) != A_READ
]
PLAIN = {"type": "AssetTimetable", "assets": {"all": [{"asset": f"{OURS}_table"}, {"asset": "other"}]}}
LATER = {
    "type": "PartitionedAssetTimetable",
    "assets": {"asset": f"{OURS}_in"},
    "default_partition_mapper": REGIONS,
    "late": "restart",
}
BODIES = {
    ("dags/<str:dag_id>/schedule", "put"): {"schedule": LATER, "reason": "r", "revision": 1},
    ("partitionsDefinitions/<str:name>/keys", "post"): {"partition_keys": ["fresh"]},
    ("backfills/<str:backfill_id>/retry", "post"): {"and_cancelled": True},
    ("grants", "post"): {"team": roles.VIEWER, "role": roles.VIEWER, "asset_group": OURS},
    ("pools", "post"): {"name": "new", "slots": 1},
    ("pools/<path:pool_name>", "patch"): {"slots": 5},
    ("sensors/<path:name>", "patch"): {"is_paused": True},
    ("auth/tokens", "post"): {"name": "nightly"},
}
"""Bodies of what belongs to no group of assets, and of what would change nothing otherwise."""

NOT_DEEDS = {
    *(
        "runs/claim",
        "runs/<str:run_pk>/heartbeat",
        "backfills/dry_run",
        "heldRuns/<str:held_run_id>/reevaluate",
    ),
    *("assets/<str:asset_id>/queuedEvents", "dags/<str:dag_id>/assets/<str:asset_id>/queuedEvents"),
}
"""Writes that no person answers for: what a run is doing says the run, nothing comes of others, and the last
two are refused where events wait for a run together."""


def with_a_run_that_ended(things):
    DagRun.objects.filter(pk=things["run_pk"]).update(state="failed", started_at=NOW, ended_at=NOW)
    return {}


def with_a_run_that_was_claimed(things):
    elsewhere.take(worker="w", now=timezone.now(), limit=9, dag_ids=None, lease=timedelta(minutes=5))
    return {}


def with_data(things):
    emit(f"{OURS}_out", things["key"])
    return {}


def with_one_that_writes_it(things):
    dag(f"{OURS}_maker", RUNTIME, writes=[f"{OURS}_made"])
    return {"asset_id": asset(f"{OURS}_made").pk}


def with_what_waits(things):
    made = dag(f"{OURS}_plain_end", PLAIN)
    heard = asset(f"{OURS}_table", group=OURS)
    Dependency.objects.create(dag=made, asset=heard, leaf=PLAIN["assets"]["all"][0], created_at=NOW)
    Dependency.objects.create(dag=made, asset=asset("other"), leaf=PLAIN["assets"]["all"][1], created_at=NOW)
    emit(heard.name, None)
    turn()
    return {"dag_id": made.dag_id, "asset_id": heard.pk}


def with_another_schedule(things):
    return {"dag_id": f"{OURS}_sum"}


def with_one_that_is_paused(things):
    Backfill.objects.update(is_paused=True)
    return {}


def with_one_that_was_cancelled(things):
    backfills.cancel(Backfill.objects.get(pk=things["backfill_id"]), deed=ALICE, at=timezone.now())
    return {}


BEFORE = {
    ("assets/<str:asset_id>/partitions", "delete"): with_data,
    ("assets/<str:asset_id>/materialize", "post"): with_one_that_writes_it,
    ("assets/<str:asset_id>/queuedEvents", "delete"): with_what_waits,
    ("dags/<str:dag_id>/assets/queuedEvents", "delete"): with_what_waits,
    ("dags/<str:dag_id>/assets/<str:asset_id>/queuedEvents", "delete"): with_what_waits,
    ("dags/<str:dag_id>/schedule", "put"): with_another_schedule,
    ("dags/<str:dag_id>/clearDagRuns", "post"): with_a_run_that_ended,
    ("dags/<str:dag_id>/dagRuns/<str:run_id>/clear", "post"): with_a_run_that_ended,
    ("runs/<str:run_pk>/finish", "post"): with_a_run_that_was_claimed,
    ("backfills/<str:backfill_id>/unpause", "put"): with_one_that_is_paused,
    ("backfills/<str:backfill_id>/retry", "post"): with_one_that_was_cancelled,
}
"""What has to be so that there is something to do, and what it is to be done to."""


@pytest.fixture
def things(groups, user_of):
    """What there is to be changed, by the names that addresses have for it."""
    found = groups[OURS]
    token, _ = ApiToken.objects.create(user=user_of(roles.ADMIN), expiry=None, name="old")
    granted(roles.VIEWER, name="bob")
    return found | {"token_id": token.token_key, "grant_id": Grant.objects.get().pk, "pool_name": "narrow"}


@pytest.fixture
def asked(things, user_of):
    """Does one write, as an admin, with a body of `more`."""
    client = client_of(user_of(roles.ADMIN))
    client.post("/api/v2/pools", {"name": "narrow", "slots": 2})

    def asked(address, method, more=None):
        short = address.removeprefix(PREFIX)
        known = things | ({"delete": True} if method == "delete" else {})
        known |= BEFORE.get((short, method), lambda _: {})(things)
        body = BODIES.get((short, method)) or body_of(address, method, known)
        if more:
            body = [body[0] | more] if isinstance(body, list) else body | more
        url = filled(address, known)
        if "sensors" in address:
            url = url.replace(str(things["partitions"]), f"{OURS}_sensor")
        return getattr(client, method)(url, body, HTTP_X_REQUEST_ID="by-name")

    return asked


def deeds():
    return JournalEntry.objects.filter(by=roles.ADMIN, via="api", request_id="by-name")


@pytest.mark.parametrize(("address", "method"), WRITES)
def test_is_in_the_journal_with_who_and_how(asked, address, method):
    answer = asked(address, method)
    if address.removeprefix(PREFIX) not in NOT_DEEDS:
        assert answer.status_code < 300, answer.content.decode()
    assert deeds().exists() == (address.removeprefix(PREFIX) not in NOT_DEEDS)


TAKE_BODIES = {(path, method) for path, method, operation in operations() if "requestBody" in operation}


@pytest.mark.sqlite
@pytest.mark.parametrize(
    ("address", "method"),
    [each for each in WRITES if ("/" + re.sub(r"<\w+:(\w+)>", r"{\1}", each[0]), each[1]) in TAKE_BODIES],
)
def test_takes_no_field_that_it_does_not_know(asked, address, method):
    answer = asked(address, method, {"is_superuser": True})
    assert answer.status_code == 422, answer.content.decode()
    [found] = answer.json()["detail"]
    assert (found["type"], found["loc"][-1]) == ("extra_forbidden", "is_superuser")
    assert not deeds().exists()
