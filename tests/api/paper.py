"""What the API says of itself, put together once for all who ask: it takes a second."""

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator


@cache
def paper() -> dict[str, Any]:
    return SchemaGenerator().get_schema(request=None, public=True)


def operations() -> list[tuple[str, str, dict[str, Any]]]:
    """Path, method and description of each request that can be made."""
    return [
        (path, method, operation)
        for path, methods in paper()["paths"].items()
        for method, operation in methods.items()
    ]
