"""Turns a database URL into what Django wants to know about a database."""

import os
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from partitions_site.environment import WrongSetting

# A transaction that reads first and writes later fails at once with "database is locked" when another one
# wrote in between, whatever the timeout: so every transaction takes the write lock when it begins.
SQLITE_OPTIONS: dict[str, Any] = {
    "transaction_mode": "IMMEDIATE",
    "timeout": 20,
    "init_command": (
        "PRAGMA journal_mode=WAL;PRAGMA synchronous=NORMAL;PRAGMA temp_store=MEMORY;PRAGMA cache_size=-20000"
    ),
}


def database(url: str, *, conn_max_age: int = 0) -> dict[str, Any]:
    """Django's settings for `sqlite:///path` or `postgres://user:password@host:port/name?option=value`.

    :raises WrongSetting: for any other scheme, or a URL that names no database.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(unquote(parts.path), conn_max_age)
    if parts.scheme in ("postgres", "postgresql"):
        return _postgresql(url, conn_max_age)
    raise WrongSetting(f"DATABASE_URL must start with sqlite:/// or postgres://, not {parts.scheme!r}")


def _sqlite(path: str, conn_max_age: int) -> dict[str, Any]:
    name = path.removeprefix("/")
    if not name:
        raise WrongSetting("DATABASE_URL names no file: write sqlite:///relative or sqlite:////absolute")
    # Threads of a test cannot share an in-memory database; the process id keeps two test runs apart.
    test_file = Path(tempfile.gettempdir()) / f"partita-test-{os.getpid()}.sqlite3"
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(Path(name).absolute()),
        "OPTIONS": SQLITE_OPTIONS,
        "CONN_MAX_AGE": conn_max_age,
        "TEST": {"NAME": str(test_file)},
    }


def _postgresql(url: str, conn_max_age: int) -> dict[str, Any]:
    parts = urlsplit(url)
    name = unquote(parts.path.removeprefix("/"))
    if not name:
        raise WrongSetting("DATABASE_URL names no database: write postgres://user@host:5432/name")
    try:
        port = str(parts.port or "")
    except ValueError as error:
        raise WrongSetting("DATABASE_URL has a port that is not a number from 0 to 65535") from error
    return {
        "ENGINE": "partitions_site.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": port,
        "OPTIONS": _options(parts.query),
        "CONN_MAX_AGE": conn_max_age,
        "CONN_HEALTH_CHECKS": True,
    }


def _options(query: str) -> dict[str, Any]:
    """What the driver is told. `prepare_threshold` is for `prepared_cursor`: no other cursor prepares."""
    options: dict[str, Any] = {"prepare_threshold": "5"} | dict(parse_qsl(query))
    times = options["prepare_threshold"]
    if times != "none" and not times.isdecimal():
        raise WrongSetting(f"DATABASE_URL has a prepare_threshold that is neither a number nor none: {times}")
    return options | {"prepare_threshold": None if times == "none" else int(times)}
