"""`partita dags`: what runs when, and how it went."""

from argparse import ArgumentParser, Namespace

from core.models import Dag
from partitions_site.cli.parsing import add_deed, add_limit, add_list, deed, deed_of, find_dag, now
from partitions_site.cli.replies import Reply, Row, done, none_of, sheet, shown, table
from scheduling import board, configuration, ticks
from scheduling.board import DagLine

COLUMNS = {
    "dag_id": "DAG",
    "schedule": "RUNS",
    "is_paused": "PAUSED",
    "held": "HELD",
    "active": "ACTIVE",
    "last_run": "LAST RUN",
    "errors": "ERRORS",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--match", default="", metavar="TEXT", help="only those with this in their name")
    parser.add_argument("--all", action="store_true", help="those that nothing defines any more as well")
    add_limit(parser)
    parser.set_defaults(do=_list)
    deeds = parser.add_subparsers(metavar="DEED", title="deeds")
    for name, words, do in (
        ("show", "all about one, with what is wrong with its definition", _show),
        ("pause", "start no more runs of it; what arrives is counted", _pause),
        ("unpause", "let it run; what is complete fires", _unpause),
    ):
        each = deed_of(deeds, name, words, do)
        each.add_argument("dag", metavar="DAG_ID")
        if name != "show":
            add_deed(each)
        if name == "unpause":
            each.add_argument("--make-up", action="store_true", help="make up the ticks that it has missed")
    add_list(parser, deeds)


def _list(given: Namespace) -> Reply:
    rows = Dag.objects.filter(dag_id__icontains=given.match)
    found = list((rows if given.all else rows.filter(is_active=True)).order_by("dag_id")[: given.limit])
    return table([_row(line) for line in board.lines(found)], COLUMNS, none_of("Dags", given.match))


def _show(given: Namespace) -> Reply:
    dag = find_dag(given.dag)
    coming = [shown(tick.at) for tick in board.next_ticks(dag, now=now())]
    row = {
        **_row(board.lines([dag])[0]),
        "description": dag.description,
        "listens_to": list(dag.dependencies.values_list("asset__name", flat=True).order_by("asset__name")),
        "writes": list(dict.fromkeys(dag.outlets.order_by("pk").values_list("asset__name", flat=True))),
        "next_ticks": coming,
        "problems": dag.problems,
    }
    lines = [f"  {each['level']}: {each['sentence']}" for each in dag.problems]
    told = sheet({name: value for name, value in row.items() if name != "problems"}, lines)
    return Reply(row, told.lines)


def _pause(given: Namespace) -> Reply:
    return _set_paused(given, True, make_up=False)


def _unpause(given: Namespace) -> Reply:
    return _set_paused(given, False, make_up=given.make_up)


def _set_paused(given: Namespace, paused: bool, *, make_up: bool) -> Reply:
    dag, at = find_dag(given.dag), now()
    missed = 0 if paused else ticks.missed(dag, now=at).count
    changed = configuration.set_paused(dag, paused, deed=deed(given), at=at, make_up=make_up)
    word = "paused" if paused else "unpaused"
    told = f"; {missed} missed ticks are {'made up' if make_up else 'passed over'}" if missed else ""
    sentence = f"{dag} is {word}" + (told if changed else ", as it was")
    return done(sentence, {"dag_id": dag.dag_id, "is_paused": paused, "changed": changed, "missed": missed})


def _row(line: DagLine) -> Row:
    return {
        "dag_id": line.dag.dag_id,
        "schedule": line.schedule,
        "is_paused": line.dag.is_paused,
        "is_active": line.dag.is_active,
        "held": line.held_count,
        "active": line.active_count,
        "last_run": line.runs[-1].state if line.runs else None,
        "errors": line.error_count,
    }
