import getpass
import json
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.models import Backfill, BackfillPartition, Dag
from scheduling import backfills
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.selections import InvalidSelection
from scheduling.backfills import Ask, Dates, Order, Plan, Reprocess, Wanted, reading
from scheduling.journal import Deed

MOST_TOLD = 20
STEERING: dict[str, tuple[Callable[..., object], str]] = {
    "pause": (backfills.pause, "start no more runs of it"),
    "resume": (backfills.resume, "let a paused one go on; take up what a cancelled one has not done"),
    "cancel": (backfills.cancel, "start nothing more; running ones finish"),
    "retry": (backfills.retry_failed, "run again what failed, and what did not run because of it"),
}


class Command(BaseCommand):
    help = "Plan, start, look at and steer backfills: many partitions on request."

    def add_arguments(self, parser: ArgumentParser) -> None:
        deeds = parser.add_subparsers(dest="what", required=True, metavar="DEED")
        for name, words in (("plan", "say what would run, and write nothing"), ("start", "start it")):
            deed = deeds.add_parser(name, help=words)
            _ask_arguments(deed)
            if name == "plan":
                deed.add_argument("--keys", action="store_true", help="print every key that would run")
            else:
                deed.add_argument("--plan", metavar="TOKEN", help="start just the plan that was shown")
                _deed_arguments(deed)
        listed = deeds.add_parser("list", help="the latest backfills")
        listed.add_argument("--dag", metavar="DAG_ID")
        shown = deeds.add_parser("show", help="how far one is, and what failed")
        shown.add_argument("id", type=int)
        for name, (_, words) in STEERING.items():
            deed = deeds.add_parser(name, help=words)
            deed.add_argument("id", type=int)
            _deed_arguments(deed)

    def handle(self, *args: Any, **options: Any) -> None:
        given = Namespace(**options)
        try:
            for line in getattr(self, f"_{given.what}", self._steer)(given):
                self.stdout.write(line)
        except InvalidSelection as error:
            raise CommandError(f"{error}\n{error.pointed()}") from error
        except PartitionError as error:
            raise CommandError(str(error)) from error

    def _plan(self, given: Namespace) -> Iterable[str]:
        plan = backfills.plan(_ask(given), now=_now())
        if given.keys:
            yield from (f"{dag} {key}" for dag, key in plan.pairs())
            return
        yield from _told(plan)

    def _start(self, given: Namespace) -> Iterable[str]:
        row = backfills.start(_ask(given), deed=_deed(given), at=_now(), shown=given.plan)
        yield f"{row}: {_progress(row)}"

    def _list(self, given: Namespace) -> Iterable[str]:
        dag = _dag(given.dag) if given.dag else None
        rows = list(reading.latest(dag)[:MOST_TOLD])
        progress, dags = reading.progress_of(rows), reading.dags_of(rows)
        for row in rows:
            status = reading.status_of(row, progress[row.pk])
            names = ", ".join(str(each) for each in dags[row.pk])
            yield f"{row.pk}  {status}  {names}  {row.words}  {progress[row.pk].words}"

    def _show(self, given: Namespace) -> Iterable[str]:
        row = _backfill(given.id)
        yield f"{row} of {row.created_by}, {row.created_at:%Y-%m-%d %H:%M} UTC: {_progress(row)}"
        for lane in reading.lanes(row):
            limit = f" ({lane.limited_by})" if lane.limited_by else ""
            yield f"  {lane.target.dag}: {lane.progress.words}{limit}"
        failed = reading.partitions(row).filter(
            state__in=[BackfillPartition.State.FAILED, BackfillPartition.State.BLOCKED]
        )
        for each in failed[:MOST_TOLD]:
            yield f"    {each.key}: {each.reason}"

    def _steer(self, given: Namespace) -> Iterable[str]:
        row = _backfill(given.id)
        STEERING[given.what][0](row, deed=_deed(given), at=_now())
        row.refresh_from_db()
        yield f"{row}: {_progress(row)}"


def _ask_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("dags", nargs="+", metavar="DAG_ID")
    add("--select", metavar="TEXT", help="such as '[2026-03-01...2026-03-10], 2026-04-01'")
    add("--key", action="append", dest="named", metavar="KEY", help="one key; may be given more than once")
    add("--from", dest="first", type=_instant, metavar="DATE", help="the first partition date, included")
    add("--to", dest="last", type=_instant, metavar="DATE", help="the last one, included")
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


def _deed_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--by", default=getpass.getuser(), help="who does it (default: you)")
    parser.add_argument("--reason", default="", help="for the journal")


def _ask(given: Namespace) -> Ask:
    if (given.first is None) != (given.last is None):
        raise CommandError("give both --from and --to")
    return Ask(
        dags=tuple(_dag(name) for name in given.dags),
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
        yield f"{part.dag}: {part.count:,} keys{span}{left}"
    for offer in plan.offers:
        yield f"with --with-upstream, first {len(offer.keys):,} missing keys of {offer.dag}"
    yield f"plan {plan.token()}" if plan.count else plan.why_nothing()


def _progress(row: Backfill) -> str:
    progress = reading.progress_of([row])[row.pk]
    return f"{reading.status_of(row, progress)}, {progress.words}"


def _dag(dag_id: str) -> Dag:
    dag = Dag.objects.filter(dag_id=dag_id).first()
    if dag is None:
        raise CommandError(f"no Dag is called {dag_id}")
    return dag


def _backfill(pk: int) -> Backfill:
    row = Backfill.objects.filter(pk=pk).first()
    if row is None:
        raise CommandError(f"there is no backfill {pk}")
    return row


def _deed(given: Namespace) -> Deed:
    return Deed(by=given.by, via="cli", reason=given.reason)


def _now() -> datetime:
    return datetime.now(UTC)


def _instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"write a date like 2026-03-01 or 2026-03-01T09:00, not {text!r}") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _size(text: str) -> int | None:
    if text == "all":
        return None
    if not text.isdecimal() or not int(text):
        raise ArgumentTypeError(f"a number of keys from 1 on, or all, not {text!r}")
    return int(text)
