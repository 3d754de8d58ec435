"""Most reports of events are plain; those are read by a way of their own, which may take nothing else."""

import itertools

import pytest

from partitions_site.api.events import EventIn
from partitions_site.api.plain import PLAIN, is_plain

IDS = [1, 0, 2**63 - 1, 2**63, -1, True, 1.0, "1", None]
KEYS = ["k", "a/b|c", "", " ", " k", "k\n", "\x7f", "k" * 250, "k" * 251, "é東", 5, None, ["k"], {}]
DEEP = {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": {"a": 1}}}}}}}}}}}}
LONG = 64 * 1024
EXTRAS = [
    *({}, {"a": [1, {"b": None}]}, {"a": 1.5, "b": None, "c": True}, None, [], "x", DEEP),
    *({"a": "x" * LONG}, {"x" * LONG: 1}, {"a": "\x01" * (LONG // 5)}, {"a": "é" * (LONG // 2)}),
]
NAMES = [None, "", "order-7", "n" * 250, "n" * 251, 7]

EVENTS = [
    *({"asset_id": each} for each in IDS),
    *({"asset_id": 1, "partition_key": each} for each in KEYS),
    *({"asset_id": 1, "partition_key": "k", "extra": each} for each in EXTRAS),
    *({"asset_id": 1, "idempotency_key": each} for each in NAMES),
    {"asset_id": 1, "access_control": {}},
    {"asset_id": 1, "unknown": 1},
    {"partition_key": "k"},
    {},
    None,
    [],
    "x",
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: repr(event)[:60])
def test_what_is_plain_is_taken_by_the_form_as_it_is(event):
    if is_plain(event):
        form = EventIn(data=event)
        assert form.is_valid(), form.errors
        assert PLAIN | event == form.validated_data


def test_what_people_sendis_plain():
    for key, extra, name in itertools.product(("k", "2026-03-10T09", None), ({}, {"a": 1}), (None, "n")):
        assert is_plain({"asset_id": 1, "partition_key": key, "extra": extra, "idempotency_key": name})
    assert is_plain({"asset_id": 1})


@pytest.mark.django_db
def test_one_event_that_is_not_plain_changes_nothing_for_the_others(api, lab):
    asset = next(iter(lab.values()))
    body = [{"asset_id": asset.pk, "partition_key": "a"}, {"asset_id": str(asset.pk), "partition_key": "b"}]
    assert api.post("/api/v2/assets/events/bulk", body).json()["created"] == 2
    body = [{"asset_id": asset.pk, "partition_key": "a"}, {"asset_id": asset.pk, "partition_key": " b"}]
    refused = api.post("/api/v2/assets/events/bulk", body)
    assert refused.status_code == 422
    assert [each["loc"] for each in refused.json()["detail"]] == [["body", 1, "partition_key"]]
