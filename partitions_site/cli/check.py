"""`partita check`: what is wrong with definitions, before they are rolled out."""

from argparse import ArgumentParser, Namespace
from dataclasses import asdict

from django.conf import settings
from django.core.management import call_command

from partitions_site import launch
from partitions_site.cli.parsing import now
from partitions_site.cli.replies import Reply
from scheduling import checking
from scheduling.algebra.phrases import some
from scheduling.checking import Checked, Finding


def add_arguments(parser: ArgumentParser) -> None:
    launch.add_check_options(parser, list(checking.CODES))
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    """Exits with 1 if there is an error."""
    if given.codes:
        return Reply(checking.CODES, [f"{code}: {words}" for code, words in checking.CODES.items()])
    if given.paths:
        call_command("migrate", verbosity=0)
    checked = checking.check(given.paths or settings.DEFINITIONS, at=now())
    found = [each for each in checked.findings if each.code not in given.ignore]
    errors = [each for each in found if given.strict or each.level == "error"]
    value = {
        "files": checked.files,
        "dags": checked.dags,
        "ok": not errors,
        "findings": [asdict(each) for each in found],
    }
    return Reply(value, [*map(_line, found), _verdict(checked, len(errors), len(found))], int(bool(errors)))


def _line(each: Finding) -> str:
    line = f":{each.line}" if each.line else ""
    return f"{each.subject}{line}: {each.level}: {each.sentence} [{each.code}]"


def _verdict(checked: Checked, errors: int, found: int) -> str:
    looked_at = f"{some(checked.dags, 'Dag')} in {some(checked.files, 'file')}"
    if not found:
        return f"{looked_at}: nothing is wrong."
    return f"{looked_at}: {some(errors, 'error')}, {some(found - errors, 'warning')}."
