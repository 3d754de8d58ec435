"""`partita backfill`: many partitions on request."""

import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable

from core.models import Backfill, BackfillPartition
from partitions_site.cli.parsing import NotFound, add_deed, deed, deed_of, find_dag, instant, now, number
from partitions_site.cli.replies import Reply, Row, none_of, shown
from scheduling import backfills
from scheduling.backfills import Ask, Dates, Order, Plan, Reprocess, Wanted, reading

MOST_TOLD = 20
STEERING: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (backfills.pause, "start no more runs of it"),
    "resume": (backfills.resume, "let a paused one go on; take up what a cancelled one has not done"),
    "cancel": (backfills.cancel, "start nothing more; running ones finish"),
    "retry": (backfills.retry_failed, "run again what failed, and what did not run because of it"),
}


def add_arguments(parser: ArgumentParser) -> None:
    deeds = parser.add_subparsers(dest="what", required=True, metavar="DEED", title="deeds")
    planned = deed_of(deeds, "plan", "say what would run, and write nothing", _plan)
    _ask_arguments(planned)
    planned.add_argument("--keys", action="store_true", help="print every key that would run")
    begun = deed_of(deeds, "start", "start it", _start)
    _ask_arguments(begun)
    begun.add_argument("--plan", metavar="TOKEN", help="start just the plan that was shown")
    add_deed(begun)
    listed = deed_of(deeds, "list", "the latest backfills", _list)
    listed.add_argument("--dag", metavar="DAG_ID")
    told = deed_of(deeds, "show", "how far one is, and what failed", _show)
    told.add_argument("id", type=number, metavar="ID")
    for name, (_, words) in STEERING.items():
        each = deed_of(deeds, name, words, _steer)
        each.add_argument("id", type=number, metavar="ID")
        add_deed(each)


def _plan(given: Namespace) -> Reply:
    plan = backfills.plan(_ask(given), now=now())
    pairs = (
        [(dag.dag_id, key) for dag, key in plan.pairs()]
        if given.keys or getattr(given, "json", False)
        else []
    )
    value = {
        "plan": plan.token(),
        "count": plan.count,
        "keys": [{"dag_id": dag_id, "partition_key": key} for dag_id, key in pairs],
        "offers": [{"dag_id": each.dag.dag_id, "partition_keys": list(each.keys)} for each in plan.offers],
    }
    lines = [f"{dag_id} {key}" for dag_id, key in pairs] if given.keys else list(_told(plan))
    return Reply(value, lines)


def _start(given: Namespace) -> Reply:
    row = backfills.start(_ask(given), deed=deed(given), at=now(), shown=given.plan)
    return _standing(row)


def _list(given: Namespace) -> Reply:
    dag = find_dag(given.dag) if given.dag else None
    rows = list(reading.latest(dag)[:MOST_TOLD])
    progress, dags = reading.progress_of(rows), reading.dags_of(rows)
    value = [{**_row(row, progress[row.pk]), "dag_ids": [str(each) for each in dags[row.pk]]} for row in rows]
    lines = [
        f"{each['id']}  {each['status']}  {', '.join(each['dag_ids'])}  {row.words}  {progress[row.pk].words}"
        for row, each in zip(rows, value, strict=True)
    ]
    return Reply(value, lines or [none_of("backfills", dag)])


def _show(given: Namespace) -> Reply:
    row = _find(given.id)
    progress = reading.progress_of([row])[row.pk]
    lanes = reading.lanes(row)
    failed = reading.partitions(row).filter(
        state__in=[BackfillPartition.State.FAILED, BackfillPartition.State.BLOCKED]
    )[:MOST_TOLD]
    lines = [f"{row} of {row.created_by}, {row.created_at:%Y-%m-%d %H:%M} UTC: {_words(row)}"]
    for lane in lanes:
        limit = f" ({lane.limited_by})" if lane.limited_by else ""
        lines.append(f"  {lane.target.dag}: {lane.progress.words}{limit}")
    lines += [f"    {each.key}: {each.reason}" for each in failed]
    value = {
        **_row(row, progress),
        "dags": [{"dag_id": each.target.dag.dag_id, **_counts(each.progress)} for each in lanes],
        "failed": [{"partition_key": each.key, "reason": each.reason} for each in failed],
    }
    return Reply(value, lines)


def _steer(given: Namespace) -> Reply:
    row = _find(given.id)
    STEERING[given.what][0](row, deed=deed(given), at=now())
    row.refresh_from_db()
    return _standing(row)


def _standing(row: Backfill) -> Reply:
    progress = reading.progress_of([row])[row.pk]
    return Reply(_row(row, progress), [f"{row}: {_words(row)}"])


def _ask_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("dags", nargs="+", metavar="DAG_ID")
    add("--select", metavar="TEXT", help="such as '[2026-03-01...2026-03-10], 2026-04-01'")
    add("--key", action="append", dest="named", metavar="KEY", help="one key; may be given more than once")
    add("--from", dest="first", type=instant, metavar="DATE", help="the first partition date, included")
    add("--to", dest="last", type=instant, metavar="DATE", help="the last one, included")
    add("--states", choices=[wanted.value.replace(" ", "-") for wanted in Wanted], default="all")
    add("--reprocess", choices=Reprocess.values, help="which keys run again")
    add("--newest-first", action="store_true")
    add("--chained", action="store_true", help="each key after the one before it is done")
    add("--keys-per-run", type=_size, default=1, metavar="N|all")
    add("--max-active-runs", type=int, default=10, metavar="N")
    add("--with-upstream", action="store_true", help="first the upstream keys that are missing")
    add("--with-downstream", action="store_true", help="afterwards what listens")
    add("--conf", type=json.loads, default={}, metavar="JSON")
    add("--title", default="")


def _ask(given: Namespace) -> Ask:
    if (given.first is None) != (given.last is None):
        raise NotFound("give both --from and --to")
    return Ask(
        dags=tuple(find_dag(name) for name in given.dags),
        selection=given.select,
        keys=tuple(given.named) if given.named else None,
        dates=Dates(given.first, given.last) if given.first else None,
        wanted=Wanted(given.states.replace("-", " ")),
        reprocess=Reprocess(given.reprocess) if given.reprocess else None,
        order=Order.NEWEST if given.newest_first else Order.OLDEST,
        is_chained=given.chained,
        keys_per_run=given.keys_per_run,
        max_active_runs=given.max_active_runs,
        with_upstream=given.with_upstream,
        with_downstream=given.with_downstream,
        conf=given.conf,
        title=given.title,
    )


def _told(plan: Plan) -> Iterable[str]:
    for part in plan.parts:
        keys = part.keys
        span = f": {keys[0]} … {keys[-1]}" if len(keys) > 1 else "".join(f": {key}" for key in keys)
        left = "".join(f"; {count:,} left out: {reason}" for reason, count in part.reasons())
        yield f"{part.dag}: {part.count:,} {_keys(part.count)}{span}{left}"
    for offer in plan.offers:
        count = len(offer.keys)
        yield f"with --with-upstream, first {count:,} missing {_keys(count)} of {offer.dag}"
    yield f"plan {plan.token()}" if plan.count else plan.why_nothing()


def _keys(count: int) -> str:
    return "key" if count == 1 else "keys"


def _row(row: Backfill, progress: reading.Progress) -> Row:
    return {
        "id": row.pk,
        "status": str(reading.status_of(row, progress)),
        "keys": row.words,
        "created_by": row.created_by,
        "created_at": shown(row.created_at),
        **_counts(progress),
    }


def _counts(progress: reading.Progress) -> Row:
    names = ("planned", "done", "failed", "skipped", "cancelled", "open")
    return {name: getattr(progress, name) for name in names}


def _words(row: Backfill) -> str:
    progress = reading.progress_of([row])[row.pk]
    return f"{reading.status_of(row, progress)}, {progress.words}"


def _find(pk: int) -> Backfill:
    row = Backfill.objects.filter(pk=pk).first()
    if row is None:
        raise NotFound(f"there is no backfill {pk}")
    return row


def _size(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"a number of keys from 1 on, or all, not {text!r}")
    return int(text)
