"""`partita keys`: the keys of dynamic partitions."""

from argparse import ArgumentParser, Namespace

from partitions_site.cli.parsing import add_deed, deed, deed_of, now
from partitions_site.cli.replies import Reply, done
from scheduling import dynamic
from scheduling.algebra.phrases import some


def add_arguments(parser: ArgumentParser) -> None:
    parser.set_defaults(do=_list, name=None)
    deeds = parser.add_subparsers(metavar="DEED", title="deeds")
    listing = deed_of(deeds, "list", "the keys that there are, or the names of dynamic partitions", _list)
    listing.add_argument("name", nargs="?", metavar="NAME", help="what the partitions are called")
    for name, words, do in (
        ("add", "add keys", _add),
        ("remove", "remove keys; what is removed keeps its history", _remove),
    ):
        each = deed_of(deeds, name, words, do)
        each.add_argument("name", metavar="NAME")
        each.add_argument("keys", nargs="+", metavar="KEY")
        add_deed(each)


def _list(given: Namespace) -> Reply:
    if given.name:
        found, none = list(dynamic.known_keys_of(given.name)), f"{given.name} has no keys."
    else:
        found, none = sorted(dynamic.names()), "There are no dynamic partitions."
    return Reply(found, found or [none])


def _add(given: Namespace) -> Reply:
    changed = dynamic.add(given.name, given.keys, deed=deed(given), at=now())
    return _changed("added", changed, given.name)


def _remove(given: Namespace) -> Reply:
    changed = dynamic.remove(given.name, given.keys, deed=deed(given), at=now())
    return _changed("removed", changed, given.name)


def _changed(word: str, keys: list[str], name: str) -> Reply:
    count = len(dynamic.keys_of(name))
    return done(f"{some(len(keys), 'key')} {word}, {count} there now", {word: keys, "count": count})
