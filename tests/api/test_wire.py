"""Recorded answers of Airflow 3.3.2, compared field by field with ours; what differs is listed, and why."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management.color import no_style
from django.db import connection, transaction

from core.models import Asset, Backfill
from tests.api import replay

pytestmark = pytest.mark.django_db

VOLATILE = re.compile(
    r"(^|_)(id|ids|at|date|time|when|after|timestamp|duration|decision|heartbeat|cursor|total|count|"
    r"entries|update|cleared|logs|token|version|hostname|pid|parsed)$|^(created_at|updated_at|file_token)$"
)
"""Fields whose values belong to one installation: only their kind is compared."""

INTENDED: dict[str, str] = {
    r"004-.*:\.detail": "a sentence that says the same without naming the library that checks it",
    r"020-.*:\.git_version": "a release is not tied to a commit",
    r"021-.*:\.scheduler": "nothing ran beside these tests; test_health shows it alive",
    r"021-.*:\.dag_processor": "there is no such process here",
    r"028-.*consuming_tasks": "inlets of tasks are known here",
    r"032-": "that installation had thirteen assets more",
    r"(04|05)\d-.*\.is_paused": "Dags begin unpaused here unless told otherwise",
    r"(04|05)\d-.*\.last_parse_duration": "is not measured",
    r"(04|05)\d-.*fileloc": "a path of this machine",
    r"(04|05)\d-.*\.timetable_description": "in the words of this system",
    r"(04|05)\d-.*\.owners": "Dags have no owners here",
    r"05\d-.*\.catchup": "ticks that were missed are made up here unless told otherwise",
    r"070-.*received": "a stray key is not counted: it is shown apart, as unexpected",
    r"124-.*message": "says what is taken instead of where to look",
    r"12[69]-.*:\.detail": "in the words of this system",
    r"093-.*extra": "events have no order there; here they go by number",
    r"(140|151)-.*(logical_date|data_interval_\w+)": "runs are dated by their key",
    r"142-": "asks for cancelled and skipped runs are understood",
    r"16[23]-.*\.(max_tries|unixname|operator|operator_name|pid|rendered_fields)": "tasks are no processes",
    r"163-.*\.try_number": "a run that has not begun has made no attempt",
    r"16[23]-.*\.state": "tasks share the state of their run",
    r"197-": "the last entries of that journal were about backfills",
    r"200-.*extra": "names the asset, not its number; the event itself has the rest",
    r"201-.*(dag_id|dag_display_name)": "a mapping problem is shown on the Dag that has it",
    r"201-.*extra": "in the words of this system",
    r"204-.*\.state": "the runs of that day had been cleared there, and are failed and queued otherwise here",
}
"""What differs on purpose, by recording and field, and why."""


@pytest.fixture(scope="module")
def played(django_db_setup, django_db_blocker) -> dict[str, replay.Played]:
    with django_db_blocker.unblock(), transaction.atomic():
        _number_from_one()
        found = {each.name: each for each in replay.play()}
        transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("name", [path.stem for path in replay.recordings()])
def test_answers_as_airflow_did(name: str, played: dict[str, replay.Played]) -> None:
    found = played[name]
    unexpected = [line for line in differences(found) if not _is_intended(name, line)]
    assert unexpected == []


def test_nothing_is_listed_that_does_not_differ(played: dict[str, replay.Played]) -> None:
    lines = [f"{name}:{line}" for name, found in played.items() for line in differences(found)]
    assert [pattern for pattern in INTENDED if not any(re.match(pattern, line) for line in lines)] == []


def differences(found: replay.Played) -> list[str]:
    status = found.recorded["status"]
    if found.status != status:
        return [f"status: {found.status} instead of {status}: {found.body}"]
    return list(_compared(found.recorded["body"], found.body, ""))


def _number_from_one() -> None:
    """Recordings name assets and backfills by their numbers; PostgreSQL counts on after a rollback."""
    columns = [{"table": model._meta.db_table, "column": "id"} for model in (Asset, Backfill)]
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_by_name_sql(no_style(), columns):
            cursor.execute(statement)


def _is_intended(name: str, line: str) -> bool:
    return any(re.match(pattern, f"{name}:{line}") for pattern in INTENDED)


def _compared(theirs: Any, ours: Any, path: str) -> Iterator[str]:
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs:
            if key not in ours:
                yield f"{path}.{key}: missing"
            else:
                yield from _compared(theirs[key], ours[key], f"{path}.{key}")
    elif isinstance(theirs, list) and isinstance(ours, list):
        if bool(theirs) != bool(ours):
            yield f"{path}: {len(ours)} items instead of {len(theirs)}"
        for their_item, our_item in zip(theirs, ours, strict=False):
            yield from _compared(their_item, our_item, f"{path}[]")
    elif _kind(theirs) != _kind(ours) or (theirs != ours and not VOLATILE.search(path.rpartition(".")[2])):
        yield f"{path}: {ours!r} instead of {theirs!r}"


INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?(Z|\+00:00)$")


def _without_ids(value: Any) -> Any:
    return re.sub(r"(?<=ID: )\d+", "N", value) if isinstance(value, str) else value


def _kind(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return type(value).__name__
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str) and (found := INSTANT.match(value)):
        return f"instant {found[2]}"
    return type(value).__name__
