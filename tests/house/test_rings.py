"""Whoever hears a ring must see what it is about: nothing is published before the commit."""

import ast
from collections.abc import Iterator
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
DOORBELL = HOME / "scheduling" / "doorbell.py"
FILES = sorted(
    path for package in ("core", "scheduling", "partitions_site") for path in (HOME / package).rglob("*.py")
)


def names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id


def after_commit(tree: ast.AST) -> list[ast.expr]:
    """What is handed to `on_commit`."""
    return [
        node.args[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "on_commit"
    ]


def test_a_bell_is_published_after_the_commit_and_in_no_other_way():
    tree = ast.parse(DOORBELL.read_text())
    waiting = [name for each in after_commit(tree) for name in names(each) if name == "_publish"]
    assert waiting == ["_publish"]
    assert [name for name in names(tree) if name == "_publish"] == waiting
    assert not [
        path for path in FILES if path != DOORBELL and "_publish" in names(ast.parse(path.read_text()))
    ]


def test_runs_are_announced_by_tasks_only_which_begin_outside_of_any_transaction():
    announcing = [
        str(path.relative_to(HOME))
        for path in FILES
        if any(
            isinstance(node, ast.Call) and ast.unparse(node.func) in ("messages.send", "messages.send_looks")
            for node in ast.walk(ast.parse(path.read_text()))
        )
    ]
    assert announcing == ["scheduling/tasks.py"]
    tasks = ast.parse((HOME / "scheduling" / "tasks.py").read_text())
    assert "atomic" not in set(names(tasks))
