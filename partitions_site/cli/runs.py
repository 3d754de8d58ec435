"""`partita runs`: what ran, what it said, and running it again."""

from argparse import ArgumentParser, Namespace

from core.models import DagRun, LogLine
from partitions_site.cli.names import called
from partitions_site.cli.parsing import NotFound, Spoken, add_narrowing, add_numbered, deed, now
from partitions_site.cli.replies import Reply, Row, done, none_of, printable, sheet, shown, table
from scheduling import board, corrections, runs
from scheduling.board import RunFilter

COLUMNS = {
    "id": "ID",
    "dag_id": "DAG",
    "partition_key": "KEY",
    "state": "STATE",
    "run_type": "TYPE",
    "started_at": "STARTED",
    "seconds": "SECONDS",
}


def add_arguments(parser: ArgumentParser) -> None:
    add_narrowing(parser, _list)
    parser.add_argument("--state", default="", choices=DagRun.State.values)
    parser.add_argument("--type", default="", choices=DagRun.Type.values)
    add_numbered(
        parser,
        Spoken("show", "all about one", _show),
        Spoken("log", "what it wrote while it ran", _log),
        Spoken("cancel", "stop it; nothing is emitted", _cancel, is_deed=True),
        Spoken("retry", "run it again: same run, next attempt", _retry, is_deed=True),
    )


def _list(given: Namespace) -> Reply:
    wanted = RunFilter(dag=given.dag, state=given.state, run_type=given.type, key=given.key)
    rows = board.runs(wanted, size=given.limit).rows
    return table(
        [_row(each) for each in rows], COLUMNS, none_of("runs", given.dag, given.key, given.state, given.type)
    )


def _show(given: Namespace) -> Reply:
    run = _find(given.id)
    row = {
        **_row(run),
        "run_id": run.run_id,
        "partition_keys": run.keys,
        "queued_at": shown(run.queued_at),
        "attempt": run.attempt,
        "created_by": run.created_by,
        "note": run.note,
        "error": run.error,
    }
    first, *more = run.error.splitlines() or [""]
    told = sheet({**row, "error": first}, ["", *map(printable, more)] if more else ())
    return Reply(row, told.lines)


def _log(given: Namespace) -> Reply:
    lines = LogLine.objects.filter(run=_find(given.id)).order_by("id")
    rows = [
        {"at": shown(line.at), "attempt": line.attempt, "task_id": line.task_id, "text": line.text}
        for line in lines
    ]
    return Reply(rows, [f"{row['at']}  {row['task_id'] or '-'}  {row['text']}" for row in rows])


def _cancel(given: Namespace) -> Reply:
    run = _find(given.id)
    runs.cancel(run, deed=deed(given), at=now())
    run.refresh_from_db()
    words = "cancelled" if run.state == DagRun.State.CANCELLED else "asked to stop"
    return done(f"run {run.pk} of {run.dag} is {words}", _row(run))


def _retry(given: Namespace) -> Reply:
    run = corrections.retry(_find(given.id), deed=deed(given), at=now())
    return done(f"run {run.pk} of {run.dag} is queued again", _row(run))


def _find(pk: int) -> DagRun:
    run = DagRun.objects.select_related("dag").filter(pk=pk).first()
    if run is None:
        raise NotFound(f"there is no run {pk}: `{called()} runs` lists them")
    return run


def _row(run: DagRun) -> Row:
    took = (run.ended_at - run.started_at).total_seconds() if run.started_at and run.ended_at else None
    return {
        "id": run.pk,
        "dag_id": run.dag.dag_id,
        "partition_key": run.partition_key,
        "state": run.state,
        "run_type": run.run_type,
        "started_at": shown(run.started_at),
        "seconds": took,
    }
