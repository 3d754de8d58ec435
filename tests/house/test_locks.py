"""Foreign keys are checked at commit, and wait for whoever locks a row for update: nobody does."""

import ast
from pathlib import Path

import pytest

HOME = Path(__file__).resolve().parents[2]
FILES = sorted(
    path for package in ("core", "scheduling", "partitions_site") for path in (HOME / package).rglob("*.py")
)


def locks(text: str) -> list[ast.Call]:
    return [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "select_for_update"
    ]


def leaves_keys_alone(call: ast.Call) -> bool:
    return any(
        each.arg == "no_key" and isinstance(each.value, ast.Constant) and each.value.value is True
        for each in call.keywords
    )


@pytest.mark.parametrize(
    ("text", "expected"), [("a.select_for_update()", False), ("a.select_for_update(no_key=True)", True)]
)
def test_the_rule_tells_them_apart(text, expected):
    assert [leaves_keys_alone(call) for call in locks(text)] == [expected]


def test_every_lock_leaves_keys_alone():
    found = {(path, call) for path in FILES for call in locks(path.read_text())}
    assert len(found) > 10
    assert [f"{path.name}:{call.lineno}" for path, call in found if not leaves_keys_alone(call)] == []
