"""`any`: a field has one of many values. As `in`, but PostgreSQL is handed them as one array.

A statement with thousands of parameters takes longer to write and to read than to answer.
"""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import models
from django.db.models.lookups import In


@models.ForeignKey.register_lookup
@models.Field.register_lookup
class AnyOf(In):
    lookup_name = "any"

    def as_postgresql(self, compiler: Any, connection: Any) -> tuple[str, list[Any]]:
        values = list(dict.fromkeys(self.rhs))
        if not values:
            raise EmptyResultSet
        column, parameters = self.process_lhs(compiler, connection)
        return f"{column} = ANY(%s)", [*parameters, values]
