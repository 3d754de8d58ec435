"""Rules of the house that no linter knows: how long, how wide and how named things may be."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import core.models

HOME = Path(__file__).parents[2]
PACKAGES = ("core", "scheduling", "partitions_site")
RECORDS = core.models.__all__
FACES = ("partitions_site", "scheduling/tasks.py")
LINES_OF_A_FILE = 400
LINES_OF_A_FUNCTION = 40
PARAMETERS = 6
BANNED = {"manager", "handler", "service", "helper", "util", "utils", "process", "data", "info"}
WRITES = {
    *("create", "bulk_create", "get_or_create", "update_or_create", "update", "bulk_update", "delete"),
    *("acreate", "abulk_create", "aget_or_create", "aupdate_or_create", "aupdate", "abulk_update", "adelete"),
}
# Names that a framework gives, the directory of an installation, Airflow's in the API, and "a partition has
# data", which the semantics say.
GIVEN = {
    "data",
    "initial_data",
    "validated_data",
    "cleaned_data",
    "data_received",
    "DATA_DIR",
    "handler404",
    "handler500",
}
SAID_ELSEWHERE = re.compile(r"data_interval_(start|end)|data_at|(take|write)_data|^DATA$")


def sources() -> list[Path]:
    found = (path for package in PACKAGES for path in (HOME / package).rglob("*.py"))
    return sorted(path for path in found if "migrations" not in path.parts)


def all_of_them() -> list[Path]:
    """Sources and tests: who reads what a thing does has as little patience as who reads how."""
    return [*sources(), *sorted((HOME / "tests").rglob("*.py")), HOME / "partita"]


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), filename=str(path))


def shown(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(HOME)}:{node.lineno}"


def functions(module: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(module) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body; a docstring is free."""
    body = function.body
    if ast.get_docstring(function, clean=False) is not None:
        body = body[1:]
    return function.end_lineno - body[0].lineno + 1 if body else 0


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return len([one for one in given if one.arg not in ("self", "cls")])


def named(module: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Names that this module gives: functions, classes, arguments, attributes and variables."""
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node
        elif isinstance(node, ast.arg):
            yield node.arg, node
        elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield (node.id if isinstance(node, ast.Name) else node.attr), node


def words(name: str) -> set[str]:
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


def test_files_are_short():
    assert not [path for path in all_of_them() if len(path.read_text().splitlines()) > LINES_OF_A_FILE]


def test_functions_are_short():
    long = [
        f"{shown(path, function)} {function.name}: {body_length(function)} lines"
        for path in all_of_them()
        for function in functions(tree(path))
        if body_length(function) > LINES_OF_A_FUNCTION
    ]
    assert not long


def test_functions_take_few_parameters():
    wide = [
        f"{shown(path, function)} {function.name}"
        for path in sources()
        for function in functions(tree(path))
        if parameters(function) > PARAMETERS
    ]
    assert not wide


def test_no_name_says_nothing():
    """A name with one of the banned words tells what a thing is made of, not what it is."""
    empty = [
        f"{shown(path, node)} {name}"
        for path in sources()
        for name, node in named(tree(path))
        if words(SAID_ELSEWHERE.sub("", name)) & BANNED and name not in GIVEN
    ]
    empty += [str(path) for path in sources() if path.stem in BANNED]
    assert not empty


def test_public_functions_come_before_private_ones():
    wrong = []
    for path in sources():
        seen_private = None
        for node in tree(path).body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if node.name.startswith("_"):
                    seen_private = node.name
                elif seen_private:
                    wrong.append(f"{shown(path, node)} {node.name} stands below {seen_private}")
    assert not wrong


def test_faces_write_nothing_themselves():
    """Views, the API, commands and tasks make one call into `scheduling`; records are written there."""
    writes = [
        f"{shown(path, node)} .objects … .{node.func.attr}()"
        for path in sources()
        if str(path.relative_to(HOME)).startswith(FACES)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in WRITES
        if re.match(rf"(models\.)?({'|'.join(RECORDS)})\.objects\b", ast.unparse(node.func.value))
    ]
    assert not writes


def test_nothing_imports_the_tasks():
    """Tasks are a face of their own: messages name them, code does not."""
    imports = [
        shown(path, node)
        for path in sources()
        for node in ast.walk(tree(path))
        if (isinstance(node, ast.ImportFrom) and node.module == "scheduling.tasks")
        or (
            isinstance(node, ast.ImportFrom)
            and node.module == "scheduling"
            and "tasks" in {n.name for n in node.names}
        )
        or (isinstance(node, ast.Import) and "scheduling.tasks" in {name.name for name in node.names})
    ]
    assert not imports


def test_tests_import_no_tests():
    """What several tests use has a file of its own: who looks for it finds it, and it is loaded once."""
    imports = [
        shown(path, node)
        for path in (HOME / "tests").rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and re.fullmatch(r"tests(\.\w+)*\.test_\w+", node.module or "")
    ]
    assert not imports


def test_nobody_publishes_but_the_doorbell_and_what_celery_runs():
    """A message that is sent inside a transaction may be heard before what it is about can be seen."""
    senders = {"send_task", "delay", "apply_async"}
    allowed = ("scheduling/doorbell.py", "scheduling/messages.py", "scheduling/tasks.py", "partitions_site/")
    publishing = [
        shown(path, node)
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in senders
        if not str(path.relative_to(HOME)).startswith(allowed)
    ]
    assert not publishing


def test_no_message_waits_in_the_broker():
    """The database decides what is due: a message for later would be lost with the broker."""
    waiting = [
        shown(path, node)
        for path in sources()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and {"eta", "countdown"} & {keyword.arg for keyword in node.keywords}
    ]
    assert not waiting


@pytest.mark.parametrize("package", ["scheduling/algebra", "core"])
def test_no_clock_below_the_faces(package):
    """The records and the algebra are told the time."""
    clocks = [
        shown(path, node)
        for path in sources()
        if str(path.relative_to(HOME)).startswith(package)
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call)
        if ast.unparse(node.func)
        in {"datetime.now", "datetime.utcnow", "timezone.now", "time.time", "date.today"}
    ]
    assert not clocks


def test_every_template_says_what_it_needs():
    silent = [
        str(path.relative_to(HOME))
        for path in sorted((HOME / "templates").rglob("*.html"))
        if not path.read_text().startswith("{# Needs:")
    ]
    assert not silent


def test_tests_are_longer_than_what_they_test():
    """At least 1.2 lines of test for each line of source, as the house has it."""
    tests = sum(len(path.read_text().splitlines()) for path in (HOME / "tests").rglob("*.py"))
    tested = sum(len(path.read_text().splitlines()) for path in sources())
    assert tests >= 1.2 * tested, f"{tests} lines of test for {tested} lines of source"
