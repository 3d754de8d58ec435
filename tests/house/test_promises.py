"""What the papers say holds a promise is there: no line outlives the tests that it names."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2]
TESTS = HOME / "tests"
PAPERS = [HOME / "docs" / f"{name}.md" for name in ("promises", "promises-api", "promises-screens")]
TEXT = "".join(paper.read_text() for paper in PAPERS)
NAMED = re.compile(r"`((?:\w+/)+test_\w+)(?:::(\w+))?`")
ROW = re.compile(r"^\| (?P<promise>.+?) \| (?P<tests>.+) \|$", re.MULTILINE)


def rows() -> list[tuple[str, str]]:
    """Each promise, and what holds it."""
    found = [(each["promise"], each["tests"]) for each in ROW.finditer(TEXT)]
    return [row for row in found if row[1] != "held by"]


@cache
def named_in(name: str) -> frozenset[str]:
    """The tests of a file, and its classes that hold some; none if there is no such file."""
    path = TESTS / f"{name}.py"
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())) if path.exists() else ():
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and re.match("[Tt]est", node.name):
            found.add(node.name)
    return frozenset(found)


def missing(text: str) -> list[str]:
    return [
        f"{name}::{test}" if test else name
        for name, test in NAMED.findall(text)
        if not (test in named_in(name) if test else named_in(name))
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("`house/test_promises`", []),
        ("`house/test_promises::test_each_test_exists`", []),
        ("`house/test_nowhere`", ["house/test_nowhere"]),
        ("`house/deep/test_nowhere`", ["house/deep/test_nowhere"]),
        ("`house/test_promises::test_of_nothing`", ["house/test_promises::test_of_nothing"]),
    ],
)
def test_the_rule_tells_them_apart(text, expected):
    assert missing(text) == expected


def test_each_test_exists():
    assert missing(TEXT) == []


def test_each_promise_is_held_by_some():
    assert len(rows()) > 100
    assert [promise for promise, tests in rows() if not NAMED.search(tests)] == []


def test_no_promise_is_made_twice():
    promises = [promise for promise, _ in rows()]
    assert sorted(promises) == sorted(set(promises))
