"""`partita trigger`: make a run by hand."""

from argparse import ArgumentParser, Namespace

from partitions_site.cli.parsing import add_deed, deed, find_dag, instant, json_object, now
from partitions_site.cli.replies import Reply, done
from scheduling import runs


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("dag", metavar="DAG_ID")
    add("key", nargs="?", metavar="KEY", help="the partition key; none for a Dag whose runs have none")
    add("--conf", type=json_object, default={}, metavar="JSON")
    add("--run-id", metavar="TEXT")
    add("--note", default="", metavar="TEXT")
    add("--run-after", type=instant, metavar="DATE", help="start it no earlier")
    add("--keep-held", action="store_true", help="a held run of that key stays held and fires as well")
    add_deed(parser)
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    ask = runs.Ask(
        partition_key=given.key,
        conf=given.conf,
        run_id=given.run_id,
        note=given.note,
        run_after=given.run_after,
        settle_held=not given.keep_held,
    )
    run = runs.trigger(find_dag(given.dag), ask, deed=deed(given), at=now())
    value = {"id": run.pk, "dag_id": run.dag.dag_id, "run_id": run.run_id, "partition_key": run.partition_key}
    key = f" for {run.partition_key}" if run.partition_key else ""
    return done(f"{run.dag} is queued{key}: run {run.pk}", value)
