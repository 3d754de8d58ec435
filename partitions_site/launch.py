"""The options of `up`, as the environment variables that the settings of every process read.

Settings are read before a command sees its options, so `manage.py` turns these options into variables first.
"""

import argparse
import atexit
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

EXAMPLES = "scheduling.examples"
DEFAULT_PORT = 8000


def add_options(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    add(
        "--port",
        type=_port,
        default=DEFAULT_PORT,
        help="port of the pages and the API (default: %(default)s)",
    )
    add("--data", type=Path, metavar="DIR", help="directory of the database and other files (default: var)")
    add(
        "--definitions",
        action="append",
        default=[],
        type=_source,
        metavar="PATH_OR_MODULE",
        help="file, directory or module with assets and Dags; may be given more than once",
    )
    add("--no-demo", action="store_true", help="do not load the examples")
    add(
        "--user",
        type=_login,
        metavar="NAME:PASSWORD",
        help="login to create (default: admin, random password)",
    )
    add("--workers", type=_workers, metavar="N", help="Dag runs executed at a time (default: 4)")


def add_check_options(parser: argparse.ArgumentParser, codes: Sequence[str] | None = None) -> None:
    """The options of `partita check`; `codes` are those that it knows, None before it can be asked."""
    add = parser.add_argument
    add(
        "paths",
        nargs="*",
        metavar="PATH_OR_MODULE",
        help="check just these, with no database but an empty one; without any, what this installation loads",
    )
    add("--strict", action="store_true", help="warnings count as errors")
    add("--ignore", action="append", default=[], choices=codes, help="may be repeated")
    add("--codes", action="store_true", help="say what can be found, and stop")


def variables(arguments: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that `up ARGUMENTS` sets over those of `environment`.

    Wrong options set nothing: the command itself reports them, with its usage.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    add_options(parser)
    try:
        options, _ = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError:
        return {}
    chosen = {"PARTITA_DEFINITIONS": ",".join(_sources(options, environment)) or "none"}
    if options.data:
        chosen["PARTITA_DATA_DIR"] = str(options.data.expanduser().absolute())
    if options.workers:
        chosen["PARTITA_WORKERS"] = str(options.workers)
    return chosen


def alone(arguments: Sequence[str]) -> dict[str, str]:
    """The variables for `partita check PATH …`: an empty database of its own, gone when Python ends.

    Without a path the check is of this installation: nothing is set. Nor is it for wrong options, which the
    command itself reports.
    """
    parser = argparse.ArgumentParser(add_help=False, exit_on_error=False)
    add_check_options(parser)
    try:
        options, _ = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError:
        return {}
    if not options.paths:
        return {}
    directory = tempfile.mkdtemp(prefix="partita-check-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    empty = dict.fromkeys(("DATABASE_URL", "REDIS_URL", "CELERY_BROKER_URL"), "")
    return {"PARTITA_DATA_DIR": directory, "PARTITA_DEFINITIONS": "none", **empty}


def _sources(options: argparse.Namespace, environment: Mapping[str, str]) -> list[str]:
    before = (environment.get("PARTITA_DEFINITIONS") or EXAMPLES).split(",")
    unwanted = {"none", ""} | ({EXAMPLES} if options.no_demo else set())
    return list(dict.fromkeys(source for source in [*before, *options.definitions] if source not in unwanted))


def _port(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise argparse.ArgumentTypeError(f"a port is a number from 1 to 65535, not {text}")
    return int(text)


def _workers(text: str) -> int:
    if not (text.isdecimal() and int(text) > 0):
        raise argparse.ArgumentTypeError(f"at least 1 Dag run must be executed at a time, not {text}")
    return int(text)


def _source(text: str) -> str:
    """A path made absolute, or a module's name as it is."""
    if "," in text:
        raise argparse.ArgumentTypeError(f"the path of a definition may not hold a comma: {text}")
    path = Path(text).expanduser()
    return str(path.absolute()) if path.exists() else text


def _login(text: str) -> tuple[str, str]:
    name, colon, password = text.partition(":")
    if not (name and colon and password):
        raise argparse.ArgumentTypeError(f"write NAME:PASSWORD, not {text!r}")
    return name, password
