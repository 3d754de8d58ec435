"""What a browser test waits for may be asked more than once."""

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def bare(text: str) -> list[int]:
    """The lines on which an expression is waited for that is no function.

    A function is read once and called as often as it takes. Any other text is read anew for each look,
    which our pages' policy forbids ("unsafe-eval") from the second on: it passes until it has to wait.
    """
    return [
        call.lineno
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "wait_for_function"
        if not re.match(r"(\w+|\(\w*\)) => ", str(getattr(call.args[0], "value", "")))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('page.wait_for_function("scrollY > 0")', [1]),
        ('page.wait_for_function("scrollY >= 0")', [1]),
        ('page.wait_for_function("() => scrollY > 0")', []),
        ('page.wait_for_function("before => now() !== before", arg=1)', []),
    ],
)
def test_the_rule_tells_them_apart(text, expected):
    assert bare(text) == expected


def test_no_wait_is_for_a_bare_expression():
    assert not {str(path): lines for path in TESTS.rglob("*.py") if (lines := bare(path.read_text()))}
