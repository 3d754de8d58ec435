"""Ways to compare text that Django lacks, alike on every database: wildcards, exact prefixes, set words."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import CharField, Lookup, TextField
from django.db.models.sql.compiler import SQLCompiler

LAST = "\U0010ffff"
"""No text that begins with a prefix sorts behind the prefix followed by this."""


@CharField.register_lookup
@TextField.register_lookup
class Like(Lookup):
    """`%` and `_` are live, case does not count, and no character escapes another."""

    lookup_name = "like"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        left, left_values = self.process_lhs(compiler, connection)
        right, right_values = self.process_rhs(compiler, connection)
        like = (
            f"{left} ILIKE {right} ESCAPE ''" if connection.vendor == "postgresql" else f"{left} LIKE {right}"
        )
        return like, [*left_values, *right_values]


@CharField.register_lookup
@TextField.register_lookup
class Prefix(Lookup):
    """The text begins with exactly this, case and all; an index on the column serves it."""

    lookup_name = "prefix"

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        left, left_values = self.process_lhs(compiler, connection)
        right, right_values = self.process_rhs(compiler, connection)
        values = [*left_values, *right_values]
        if connection.vendor == "postgresql":
            return f"{left} ^@ {right}", values
        above = [f"{value}{LAST}" for value in right_values]
        return f"({left} >= {right} AND {left} < {right})", [*values, *left_values, *above]


@CharField.register_lookup
class Among(Lookup):
    """One of some words of ours, which stand in the statement as they stand in the condition of an index.

    SQLite takes an index of some rows only for a statement that says so itself, and not by its values.
    """

    lookup_name = "among"
    prepare_rhs = False

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, Any]:
        left, values = self.process_lhs(compiler, connection)
        words = ", ".join(_quoted(word) for word in self.rhs)
        return f"{left} IN ({words})", values


def _quoted(word: str) -> str:
    if not word.isidentifier():
        raise ValueError(f"{word!r} is no word of ours")
    return f"'{word}'"
