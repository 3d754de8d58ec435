"""`partita emit`: say that partitions of an asset are there."""

import sys
from argparse import ArgumentParser, Namespace

from core.models import AssetEvent
from partitions_site.cli.parsing import NotFound, add_deed, deed, find_asset, json_object, now
from partitions_site.cli.replies import Reply
from scheduling.events import EventReport, register_events
from scheduling.mapping import refusals

MOST_TOLD = 10
"""Keys that a Dag cannot count, each told in a line."""


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("asset", metavar="ASSET", help="its name or its uri")
    add("keys", nargs="*", metavar="KEY", help="partition keys; - reads them from standard input, one a line")
    add("--without-key", action="store_true", help="the asset changed as a whole")
    add("--extra", type=json_object, default={}, metavar="JSON", help="describes the event, starts nothing")
    add("--idempotency-key", metavar="TEXT", help="said twice, it counts once (with several keys: per key)")
    add_deed(parser)
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    asset, keys = find_asset(given.asset), _keys(given)
    if given.without_key == bool(keys):
        raise NotFound("name the partition keys that are there, or say --without-key, and not both")
    named: list[str | None] = [*keys] or [None]
    reports = [EventReport(asset, key, given.extra, _name(given.idempotency_key, key, keys)) for key in named]
    answers = register_events(reports, source=AssetEvent.Source.PERSON, deed=deed(given), at=now())
    new = sum(answer.is_new for answer in answers)
    again = f", {len(answers) - new} were there before" if new < len(answers) else ""
    uncounted = refusals(list({each.event.partition_key: each.event for each in answers}.values()))
    value = {
        "recorded": new,
        "repeated": len(answers) - new,
        "event_ids": [each.event.pk for each in answers],
        "not_counted": [
            {"partition_key": each.event.partition_key, "dag_id": each.dag.dag_id, "sentence": each.sentence}
            for each in uncounted
        ],
    }
    noun = "event" if new == 1 else "events"
    lines = [
        f"  not counted by {each.dag}: {each.event.partition_key or 'no key'}: {each.sentence}"
        for each in uncounted[:MOST_TOLD]
    ]
    if uncounted[MOST_TOLD:]:
        lines.append(f"  and {len(uncounted) - MOST_TOLD} more")
    return Reply(value, [f"{new} {noun} of {asset} recorded{again}", *lines])


def _keys(given: Namespace) -> list[str]:
    """Blank lines of standard input count for nothing; a key keeps its own blanks."""
    return [
        key
        for each in given.keys
        for key in ((line.rstrip("\r\n") for line in sys.stdin) if each == "-" else (each,))
        if key or each != "-"
    ]


def _name(name: str | None, key: str | None, keys: list[str]) -> str | None:
    return f"{name}:{key}" if name and len(keys) > 1 else name
