"""Takes the words after `partita`, finds the command, prints what it replies.

It exits with 0; with 1 where the engine refuses or something is wrong, in one sentence on standard error; and
with 2 for words that are no command.
"""

import json
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, TextIO

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError

from partitions_site.cli import completion
from partitions_site.cli.names import COMMANDS, called
from partitions_site.cli.parsing import Parser, add_json
from partitions_site.cli.replies import Reply
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.selections import InvalidSelection


def main(words: Sequence[str], out: TextIO | None = None) -> int:
    """Carry out one command and return its exit status.

    :raises SystemExit: for `--help` and for words that are no command, as argparse does.
    """
    given = build().parse_args(list(words))
    try:
        reply: Reply = given.do(given)
    except InvalidSelection as wrong:
        return _fail(f"{wrong}\n{wrong.pointed()}")
    except (PartitionError, ImproperlyConfigured) as refusal:
        return _fail(str(refusal))
    except DatabaseError as error:
        return _fail(
            f"the database cannot be used: {error} (`{called()} migrate` makes it what it has to be)"
        )
    try:
        _print(reply, getattr(given, "json", False), out or sys.stdout)
    except BrokenPipeError:
        # Whoever read has had enough (`partita runs | head`): not to fail once more when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return reply.code


def build() -> Parser:
    """The parser of all commands."""
    parser = Parser(prog=called(), description="Assets, their partitions, and what runs for them.")
    parser.add_argument("--version", action="version", version=f"Partita {settings.VERSION}")
    commands = parser.add_subparsers(metavar="COMMAND", title="commands", required=True)
    for name, words in COMMANDS.items():
        command = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        if name != "completion":
            add_json(command)
            import_module(f"{__package__}.{name}").add_arguments(command)
    completion.add_arguments(commands.choices["completion"], parser)
    return parser


def _print(reply: Reply, as_json: bool, out: TextIO) -> None:
    if as_json:
        out.write(f"{_written(reply.value)}\n")
    else:
        out.writelines(f"{line}\n" for line in reply.lines)
    out.flush()


def _written(value: Any) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False, indent=2)


def _fail(sentence: str) -> int:
    sys.stderr.write(f"{called()}: {sentence}\n")
    return 1
