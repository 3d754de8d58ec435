"""Which words are commands of `manage.py`, and what is said of one that is none. Loads no model."""

import sys
from difflib import get_close_matches
from typing import NoReturn

from django.conf import settings
from django.core.management import BaseCommand, ManagementUtility, get_commands

from partitions_site.cli.names import COMMANDS, OWN, called


class Utility(ManagementUtility):
    """Django's own, but for a word that is no command: it is answered as every other wrong word is."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        if subcommand not in get_commands():
            settings.INSTALLED_APPS  # noqa: B018  (there are few commands where settings cannot be read: says why)
            _no_command(subcommand)
        return super().fetch_command(subcommand)


def _no_command(word: str) -> NoReturn:
    near = get_close_matches(word, [*COMMANDS, *OWN, *get_commands()], n=1)
    lines = [
        f"{called()}: there is no command {word!r}" + (f"; is it {near[0]!r}?" if near else ""),
        "",
        *(f"  {name:<11} {words}" for name, words in COMMANDS.items()),
        "",
        f"Also {', '.join(OWN)} (`./partita --help`), and those of manage.py (`{called()} help`).",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.exit(2)
