"""`python -m tests.conformance FILE...`: answer recorded questions and say where the answers differ.

Exits 1 if any answer is wrong: different, and not by one of the rules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import django

from tests.conformance.report import judge, summary
from tests.conformance.vectors import read


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    with _database():
        return tell(arguments)


def tell(files: Sequence[str]) -> int:
    """Print how the answers in `files` compare, and give the exit code; the database is there."""
    wrong = False
    for file in files:
        judged = list(judge(read(Path(file))))
        print(file, *summary(judged), sep="\n")
        wrong = wrong or any(each.verdict == "wrong" for each in judged)
    return 1 if wrong else 0


@contextmanager
def _database() -> Iterator[None]:
    """An empty one in memory, where worlds are played."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "partitions_site.settings")
    os.environ["DATABASE_URL"] = ""
    django.setup()
    from django.db import connection

    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
