"""What a subquery gives, as one value of the row it belongs to: so that one statement asks for both."""

import json
from typing import Any

from django.db import models
from django.db.models import Subquery


class _Texts(models.TextField):  # type: ignore[type-arg]
    """A list of texts: of PostgreSQL as it is, of SQLite as JSON."""

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> list[str]:
        found: list[str] = json.loads(value) if isinstance(value, str) else value
        return found


class Listed(Subquery):
    """The texts that a query gives, in no order. Its one column is called `listed`."""

    template = "ARRAY(%(subquery)s)"

    def __init__(self, queryset: "models.QuerySet[Any, Any]") -> None:
        super().__init__(queryset, output_field=_Texts())

    def as_sqlite(self, compiler: Any, connection: Any) -> Any:
        template = "(SELECT json_group_array(listed) FROM (%(subquery)s))"
        return super().as_sql(compiler, connection, template=template)
