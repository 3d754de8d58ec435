"""Whether running code may name the keys it writes, which nobody knows before it runs."""

import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

NAMES = "add_partitions"


def may_name_keys(function: Callable[..., Any]) -> bool:
    """Whether `function`, or one written in it, speaks of `add_partitions`. What it calls is not looked at.

    Of what has no code to read, any may.
    """
    code = getattr(inspect.unwrap(function), "__code__", None)
    return not isinstance(code, CodeType) or _speaks(code)


def _speaks(code: CodeType) -> bool:
    return NAMES in code.co_names or any(
        _speaks(inner) for inner in code.co_consts if isinstance(inner, CodeType)
    )
