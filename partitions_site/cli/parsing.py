"""Arguments that several commands take, and how they are read."""

import getpass
import json
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError, Namespace, _SubParsersAction
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NoReturn

from django.contrib.auth.models import User

from core.models import Asset, Dag
from partitions_site.cli.names import called
from partitions_site.cli.replies import Reply
from scheduling.algebra.errors import PartitionError
from scheduling.journal import Deed

MOST_ROWS, ROWS = 10_000, 50

Do = Callable[[Namespace], Reply]


class NotFound(PartitionError):
    """Nothing is called so."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sub-command: what it is called, what it does in words, who does it; a deed goes into the journal."""

    name: str
    words: str
    do: Do
    is_deed: bool = False


class Parser(ArgumentParser):
    """Says what is wrong with an argument in one sentence, and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} ({self.prog} --help says what it takes)\n")


def deed_of(deeds: "_SubParsersAction[ArgumentParser]", name: str, words: str, do: Do) -> ArgumentParser:
    """A sub-command that `do` carries out."""
    parser = deeds.add_parser(name, help=words, description=words)
    parser.set_defaults(do=do)
    add_json(parser)
    return parser


def add_deeds(parser: ArgumentParser, *spoken: Spoken) -> dict[str, ArgumentParser]:
    """Sub-commands of a command that lists things when it is given none, by their names."""
    deeds = parser.add_subparsers(metavar="DEED", title="deeds")
    made = {each.name: deed_of(deeds, each.name, each.words, each.do) for each in spoken}
    for each in spoken:
        if each.is_deed:
            add_deed(made[each.name])
    if "list" not in made:
        add_list(parser, deeds)
    return made


def add_list(parser: ArgumentParser, deeds: "_SubParsersAction[ArgumentParser]") -> None:
    """`list`, for a command that lists things when it is given no deed: the same, with the same options."""
    words = "list them, as without a deed"
    listing = deeds.add_parser("list", help=words, description=words)
    for action in parser._actions:
        if action.option_strings and action.dest != "help":
            same = copy(action)
            same.default = SUPPRESS  # not to reset what stands before `list`
            listing._add_action(same)


def add_narrowing(parser: ArgumentParser, do: Do) -> None:
    """What a list of things that have a Dag and a key is narrowed by; `do` lists them."""
    parser.add_argument("--dag", default="", metavar="DAG_ID", help="those of this Dag")
    parser.add_argument("--key", default="", metavar="TEXT", help="those with this in their key")
    add_limit(parser)
    parser.set_defaults(do=do)


def add_numbered(parser: ArgumentParser, *spoken: Spoken) -> None:
    """Sub-commands that are about one row, which they are told by its number."""
    for each in add_deeds(parser, *spoken).values():
        each.add_argument("id", type=number, metavar="ID")


def add_json(parser: ArgumentParser) -> None:
    # Not to be reset by a sub-command that was not given it, if its command was.
    parser.add_argument("--json", action="store_true", default=SUPPRESS, help="answer for programs")


def add_deed(parser: ArgumentParser) -> None:
    """Who does it, and why."""
    parser.add_argument("--by", default=getpass.getuser(), metavar="NAME", help="who does it (default: you)")
    parser.add_argument("--reason", default="", metavar="TEXT", help="for the journal")


def add_limit(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--limit", type=limit, default=ROWS, metavar="N", help=f"rows at most (default: {ROWS})"
    )


def deed(given: Namespace) -> Deed:
    return Deed(by=given.by, via="cli", reason=given.reason)


def now() -> datetime:
    return datetime.now(UTC)


def find_asset(name: str) -> Asset:
    """:raises NotFound: unless an asset has that name, or is at that address."""
    found = Asset.objects.filter(name=name).first() or Asset.objects.filter(uri=name).order_by("pk").first()
    if found is None:
        raise NotFound(f"no asset is called {name}: `{called()} assets` lists them")
    return found


def find_login(name: str) -> User:
    """:raises NotFound: if no login is called so."""
    found = User.objects.filter(username=name).first()
    if found is None:
        raise NotFound(f"no login is called {name}")
    return found


def find_dag(dag_id: str) -> Dag:
    """:raises NotFound: if no Dag is called so."""
    found = Dag.objects.filter(dag_id=dag_id).first()
    if found is None:
        raise NotFound(f"no Dag is called {dag_id}: `{called()} dags` lists them")
    return found


def limit(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) <= MOST_ROWS):
        raise ArgumentTypeError(f"write a number from 1 to {MOST_ROWS}, not {text!r}")
    return int(text)


def number(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) < 2**63):
        raise ArgumentTypeError(f"write the number of a row, such as 12, not {text!r}")
    return int(text)


def json_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text!r} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise ArgumentTypeError(f'write a JSON object such as {{"rows": 3}}, not {text!r}')
    return value


def instant(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ArgumentTypeError(f"write a date like 2026-03-01 or 2026-03-01T09:00, not {text!r}") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
