"""`partita held`: what waits and for what, and what a person may do about it."""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from core.models import HeldRun
from partitions_site.cli.names import called
from partitions_site.cli.parsing import (
    NotFound,
    Spoken,
    add_narrowing,
    add_numbered,
    deed,
    find_asset,
    find_dag,
    now,
)
from partitions_site.cli.replies import Reply, Row, done, sheet, shown, table
from scheduling import board, holds
from scheduling.algebra.phrases import some
from scheduling.algebra.progress import Progress
from scheduling.algebra.verdicts import Kind, Verdict
from scheduling.board import HeldFilter

COLUMNS = {"id": "ID", "dag_id": "DAG", "partition_key": "KEY", "verdict": "VERDICT", "sentence": "WHY"}


def add_arguments(parser: ArgumentParser) -> None:
    add_narrowing(parser, _list)
    parser.add_argument("--asset", default="", metavar="ASSET", help="those that wait for this asset")
    parser.add_argument("--verdict", default="", choices=[str(kind) for kind in Kind])
    parser.add_argument("--late", action="store_true", help="those whose data is overdue")
    add_numbered(
        parser,
        Spoken("show", "what one waits for, judged anew", _show),
        Spoken("fire", "fire it now with what it has", _fire, is_deed=True),
        Spoken("cancel", "close it without a run", _cancel, is_deed=True),
        Spoken("reevaluate", "judge it once more", _reevaluate),
    )


def _list(given: Namespace) -> Reply:
    """:raises NotFound: for a Dag or an asset that there is not, which must not look like nothing waiting."""
    wanted = HeldFilter(
        verdict=given.verdict,
        only_late=given.late,
        dag=find_dag(given.dag).dag_id if given.dag else "",
        asset=find_asset(given.asset).name if given.asset else "",
        key=given.key,
    )
    rows = board.held_runs(wanted, now=now(), size=given.limit).rows
    return table([_row(each) for each in rows], COLUMNS, _nothing(given))


def _nothing(given: Namespace) -> str:
    if given.dag or given.key or given.asset or given.verdict:
        return "There are no such held runs."
    return "Nothing that waits is late." if given.late else "Nothing waits."


def _show(given: Namespace) -> Reply:
    row = _find(given.id)
    verdict = holds.assess([row], now=now()).get(row.pk)
    assets = [] if verdict is None else [_progress(each) for each in verdict.progress]
    lines = [line for each in assets for line in _said(each)]
    reply = sheet(_row(row, verdict), lines)
    return Reply({**reply.value, "assets": assets}, reply.lines)


def _fire(given: Namespace) -> Reply:
    run = holds.fire_now(_find(given.id), deed=deed(given), at=now())
    missing = sum(len(each["keys"]) for each in run.missing_keys)
    without = f", without {some(missing, 'key')}" if missing else ""
    return done(f"{run.dag} runs for {run.partition_key}{without}: run {run.pk}", {"run": run.pk})


def _cancel(given: Namespace) -> Reply:
    row = _find(given.id)
    holds.cancel(row, deed=deed(given), at=now())
    return done(f"{row} is closed; the next event for its key opens a new round")


def _reevaluate(given: Namespace) -> Reply:
    holds.judge_again([_find(given.id).dag], at=now())
    return _show(given)


def _find(pk: int) -> HeldRun:
    row = HeldRun.objects.select_related("dag", "run").filter(pk=pk).first()
    if row is None:
        raise NotFound(f"there is no held run {pk}: `{called()} held` lists them")
    return row


def _row(row: HeldRun, verdict: Verdict | None = None) -> Row:
    return {
        "id": row.pk,
        "dag_id": row.dag.dag_id,
        "partition_key": row.partition_key or None,
        "round": row.round,
        "state": row.state,
        "verdict": str(verdict.kind if verdict else row.verdict) if row.state == "held" else None,
        "sentence": verdict.sentence if verdict else row.sentence,
        "received": row.received_count,
        "required": row.required_count,
        "opened_at": shown(row.opened_at),
    }


def _said(each: Row) -> Iterator[str]:
    yield f"  {each['asset']}: {each['sentence']}"
    if each["unexpected_keys"]:
        yield f"    unexpected, so not counted: {', '.join(each['unexpected_keys'])}"


def _progress(each: Progress) -> Row:
    return {
        "asset": each.leaf.words(),
        "sentence": each.sentence(),
        "missing_keys": list(each.missing),
        "received_keys": list(each.received),
        "unexpected_keys": list(each.unexpected),
    }
