"""Indexes that are made while others write: on a large table, that may take minutes."""

from typing import Any

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import AddIndex


class AddIndexMeanwhile(AddIndexConcurrently):
    """`AddIndex` that locks nobody out where the database can do so. For migrations that are not `atomic`.

    One of those that was stopped half-way is run again from its beginning: an index that is there is left
    alone, and one that PostgreSQL has not finished, which serves nobody, is made anew.
    """

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        table = to_state.apps.get_model(app_label, self.model_name)._meta.db_table
        if _is_there(schema_editor, table, self.index.name):
            return
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute(_DROP_UNFINISHED % schema_editor.quote_name(self.index.name))
            super().database_forwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_forwards(self, app_label, schema_editor, from_state, to_state)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        if schema_editor.connection.vendor == "postgresql":
            super().database_backwards(app_label, schema_editor, from_state, to_state)
        else:
            AddIndex.database_backwards(self, app_label, schema_editor, from_state, to_state)


_DROP_UNFINISHED = "DROP INDEX CONCURRENTLY IF EXISTS %s"

_IS_VALID = """
SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = to_regclass(%s) AND c.relname = %s
"""


def _is_there(schema_editor: Any, table: str, name: str) -> bool:
    """Whether the index has been made to its end. Of SQL that is only collected, none has."""
    if schema_editor.collect_sql:
        return False
    with schema_editor.connection.cursor() as cursor:
        if schema_editor.connection.vendor != "postgresql":
            return name in schema_editor.connection.introspection.get_constraints(cursor, table)
        cursor.execute(_IS_VALID, [schema_editor.quote_name(table), name])
        return bool(cursor.fetchone() == (True,))
