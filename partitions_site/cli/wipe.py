"""`partita wipe`: say that partitions have no data any more. Their events and runs stay on record."""

from argparse import ArgumentParser, Namespace

from partitions_site.cli.parsing import add_deed, deed, find_asset, now
from partitions_site.cli.replies import Reply, done
from scheduling import wiping
from scheduling.algebra.phrases import some


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("asset", metavar="ASSET", help="its name or its uri")
    parser.add_argument("keys", nargs="+", metavar="KEY")
    add_deed(parser)
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    wiped = wiping.wipe(find_asset(given.asset), given.keys, deed=deed(given), at=now())
    named = len(set(given.keys))
    sentence = f"{len(wiped)} of {some(named, 'partition')} had data, and have none now"
    return done(sentence, {"partition_keys": wiped, "named": named})
