"""`partita explain`: why has this partition not run, and what would it take?"""

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

from partitions_site.cli.parsing import find_dag, now
from partitions_site.cli.replies import Reply
from scheduling.board import Together, together
from scheduling.expected import Owed
from scheduling.explain import Explanation, explain


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("dag_id", metavar="DAG")
    parser.add_argument("key", metavar="KEY", nargs="?", help="none for a Dag whose runs have no key")
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    from partitions_site.api.explaining import ExplanationOut  # REST framework: no other command wants it

    found = explain(find_dag(given.dag_id), given.key, now=now())
    return Reply(ExplanationOut(found).data, list(_lines(found)))


def _lines(found: Explanation) -> Iterator[str]:
    yield f"{found.dag} {found.key or '(no key)'}: {found.standing}"
    yield found.sentence
    for group in together(found.facts, found.verdict):
        yield f"  missing: {_group(group) if group.words else _fact(group.first)}"
    for asset, keys in found.unexpected:
        yield f"  unexpected, so not counted: {', '.join(keys)} of {asset}"
    if found.outcome:
        yield found.outcome
    yield from _beside(found)


def _beside(found: Explanation) -> Iterator[str]:
    """What else there is of the key: what is in the way, and what has been."""
    for hindrance in found.hindrances:
        behind = f" Behind {', '.join(run.run_id for run in hindrance.behind)}." if hindrance.behind else ""
        yield f"  {hindrance.sentence}{behind}"
    for problem in found.problems:
        event = problem.event
        yield f"  could not be counted: {event.partition_key} of {event.asset}: {problem.sentence}"
    for planned in found.backfills:
        yield f"  {planned.target.backfill} has it: {planned.state}"
    for row in found.rounds:
        yield f"  round {row.round}: {row.state}"
    for run in found.runs:
        yield f"  run {run.run_id}: {run.state}"


def _group(group: Together) -> str:
    what = f"{len(group.owed)} of {group.first.leaf.words()}: {group.words}"
    if group.span is None:
        return f"{what}, {group.first.untimed}{_by(group.first)}"
    first, last = group.span
    return f"{what}, expected {first:%Y-%m-%d %H:%M} to {last:%Y-%m-%d %H:%M} UTC{_by(group.first)}"


def _fact(fact: Owed) -> str:
    what = f"{fact.leaf.words()} {fact.key}" if fact.key else f"any event of {fact.leaf.words()}"
    when = f"expected {fact.expected.at:%Y-%m-%d %H:%M} UTC" if fact.expected.at else fact.untimed
    return f"{what}, {when}{_by(fact)}"


def _by(fact: Owed) -> str:
    by = f"; {'made' if fact.dags else 'reported'} by {fact.by}" if fact.by else ""
    tried = f", last run {fact.attempt.state}" if fact.attempt else ""
    return f"{by}{tried}"
