"""What all tests share: a fast password hash, the servers they need, and a word about what was not run."""

import gc
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any, NoReturn

import hypothesis
import pytest
from django.conf import settings
from django.db import connection, transaction

from tests import servers

# A machine that is busy is no fault of the code, so no example has a time limit. A gate gives the same answer
# to the same code; people's own runs go on looking for new examples.
hypothesis.settings.register_profile("people", deadline=None)
hypothesis.settings.register_profile("gate", deadline=None, derandomize=True)
hypothesis.settings.load_profile("gate" if os.environ.get("CI") == "true" else "people")

# No test stops a whole server, so none needs to wait for the disk at each commit. Processes that tests start
# inherit it.
os.environ.setdefault("PGOPTIONS", "-c synchronous_commit=off")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-services",
        action="store_true",
        help="a server that is missing is a failure, as with CI=true",
    )


def pytest_configure() -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    # Every client of a test loads the middleware anew, which would read all static files each time.
    settings.WHITENOISE_AUTOREFRESH = True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is of another database, and put what takes long first, not to wait for it last.

    Of a run on PostgreSQL (`./partita test --postgres`) are the tests that use the database, and those of
    what only PostgreSQL does; others would show again what they show on SQLite.
    """
    on_postgres = connection.vendor == "postgresql"
    belongs = _uses_the_database if on_postgres else lambda item: not item.get_closest_marker("pg")
    elsewhere = [item for item in items if not belongs(item)]
    items[:] = sorted((item for item in items if belongs(item)), key=_haste)
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is there by now stays to the end: nobody needs to look through all of it for garbage again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _uses_the_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("sqlite"):
        return False
    marked = any(item.get_closest_marker(name) for name in ("pg", "django_db", "services", "browser"))
    return marked or not {"db", "transactional_db", "django_db_setup"}.isdisjoint(item.fixturenames)


def _haste(item: pytest.Item) -> int:
    """Tests that wait for processes first, then those that work long."""
    names = (("services", "browser"), ("slow",))
    return next((place for place, each in enumerate(names) if any(map(item.get_closest_marker, each))), 2)


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("browser"):
        try:
            servers.chromium_path()
        except servers.Missing as missing:
            _not_here(item.config, missing)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reasons = (
        report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())
    )
    for reason, count in Counter(reason for reason in reasons if reason.startswith("needs")).items():
        terminalreporter.write_line(f"NOT RUN HERE: {count} tests. {reason}", yellow=True)


@pytest.fixture(scope="module")
def db_of_the_file(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """For fixtures of a file: what they write is there in each of its tests, and gone after the last."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """The browser's program, for tests marked `browser`."""
    return servers.chromium_path()


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        yield _enter(request.config, stack, servers.postgres())


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database, for an installation in other processes."""
    with servers.empty_postgres_database(postgres_server, f"partita_{os.getpid()}") as url:
        yield url


@pytest.fixture(scope="session")
def migrated(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The name of a database in which nothing is but the tables: others are copied from it at once."""
    name = f"partita_{os.getpid()}_migrated"
    with servers.empty_postgres_database(postgres_server, name) as url:
        environment = {"DATABASE_URL": url, "PARTITA_DATA_DIR": str(tmp_path_factory.mktemp("migrated"))}
        command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "migrate", "-v", "0"]
        subprocess.run(command, env=os.environ | environment, check=True)
        yield name


@pytest.fixture
def postgres_url(postgres_server: str, migrated: str) -> Iterator[str]:
    """The URL of a database with nothing but the tables, for an installation in other processes."""
    with servers.empty_postgres_database(postgres_server, f"partita_{os.getpid()}", migrated) as url:
        yield url


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of an empty Redis, for an installation in other processes."""
    with ExitStack() as stack:
        yield _enter(request.config, stack, servers.private_redis())


@pytest.fixture(scope="module")
def module_postgres_url(postgres_server: str, migrated: str) -> Iterator[str]:
    """The same for all tests of a file together."""
    with servers.empty_postgres_database(postgres_server, f"partita_{os.getpid()}_module", migrated) as url:
        yield url


@pytest.fixture(scope="module")
def module_redis_url(request: pytest.FixtureRequest) -> Iterator[str]:
    with ExitStack() as stack:
        yield _enter(request.config, stack, servers.private_redis())


def _enter(config: pytest.Config, stack: ExitStack, server: AbstractContextManager[str]) -> str:
    try:
        return stack.enter_context(server)
    except servers.Missing as missing:
        _not_here(config, missing)


def _not_here(config: pytest.Config, missing: servers.Missing) -> NoReturn:
    if os.environ.get("CI") == "true" or config.getoption("--require-services"):
        pytest.fail(str(missing), pytrace=False)
    pytest.skip(str(missing))
