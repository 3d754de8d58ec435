"""Definition files: found by path or module name, run, and what they define or why they cannot be run."""

import hashlib
import importlib.util
import pkgutil
import re
import sys
import threading
import traceback
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring import loading
from scheduling.authoring.assets import Asset
from scheduling.authoring.dags import DAG
from scheduling.authoring.sensors import Sensor

_running = threading.RLock()


@dataclass(frozen=True, slots=True)
class DefinitionFile:
    """A file of definitions. `name` is its dotted name, or its absolute path if it belongs to no package."""

    name: str
    path: Path

    @property
    def module_name(self) -> str:
        if not _is_path(self.name):
            return self.name
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:8]
        return f"partita_definitions_{digest}_{self.path.stem}"

    def fingerprint(self) -> str:
        """Changes when the file does.

        :raises OSError: if it cannot be read.
        """
        return hashlib.sha256(self.path.read_bytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a file could not be loaded: one sentence, the line in that file, the whole traceback."""

    sentence: str
    line: int | None = None
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the file of that name defines; nothing if there was a failure."""

    name: str
    fingerprint: str = ""
    dags: tuple[DAG, ...] = ()
    assets: tuple[Asset, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    failure: Failure | None = None


def find(source: str) -> Iterator[DefinitionFile | Loaded]:
    """The files of one source: a file, each file of a directory, a module, or each module of a package.

    Names that start with `_` or `.` are passed over, and packages inside a package, which may hold anything.
    A source that is not there is an answer like any other.
    """
    if _is_path(source):
        yield from _files_at(Path(source).expanduser().absolute())
    else:
        yield from _modules_of(source)


def named(name: str) -> DefinitionFile | Loaded:
    """The one file that `find` called so."""
    if _is_path(name):
        return DefinitionFile(name, Path(name))
    spec = _spec(name)
    return spec if isinstance(spec, Loaded) else DefinitionFile(name, Path(spec.origin or ""))


def load(file: DefinitionFile) -> Loaded:
    """Run the file. Whatever it raises is the failure of this file alone."""
    try:
        fingerprint = file.fingerprint()
    except OSError as error:
        return Loaded(file.name, failure=Failure(f"cannot be read: {error.strerror}"))
    try:
        with _running, loading.collecting(file.module_name) as collection:
            module = _run(file)
    except BaseException as error:
        _let_interrupts_pass(error)
        return Loaded(file.name, fingerprint, failure=_failure(error, file.path))
    return Loaded(
        file.name,
        fingerprint,
        tuple(each for each in collection.made if isinstance(each, DAG)),
        tuple(_assets_in(module)),
        tuple(each for each in collection.made if isinstance(each, Sensor)),
    )


def may_define(loaded: Iterable[Loaded], name: str) -> bool:
    """Whether what could not be loaded, a file or all files below, may define what that of this name did."""
    failing = (each.name.rstrip("/") for each in loaded if each.failure)
    return any(name == each or name.startswith((f"{each}/", f"{each}.")) for each in failing)


def _is_path(source: str) -> bool:
    return source.endswith(".py") or any(sign in source for sign in "/\\~")


def _files_at(path: Path) -> Iterator[DefinitionFile | Loaded]:
    if path.is_dir():
        for file in sorted(path.rglob("*.py")):
            if not any(part.startswith(("_", ".")) for part in file.relative_to(path).parts):
                yield DefinitionFile(str(file), file)
    elif path.is_file():
        yield DefinitionFile(str(path), path)
    else:
        yield Loaded(str(path), failure=Failure("there is no such file or directory"))


def _modules_of(name: str) -> Iterator[DefinitionFile | Loaded]:
    spec = _spec(name)
    if isinstance(spec, Loaded):
        yield spec
    elif spec.submodule_search_locations is None:
        yield DefinitionFile(name, Path(spec.origin or ""))
    else:
        found = pkgutil.iter_modules(spec.submodule_search_locations)
        for module in sorted(found, key=lambda each: each.name):
            if not (module.ispkg or module.name.startswith("_")):
                yield from _modules_of(f"{name}.{module.name}")


def _spec(name: str) -> ModuleSpec | Loaded:
    """Looks for the module, which runs the packages above it."""
    try:
        spec = importlib.util.find_spec(name)
    except BaseException as error:
        _let_interrupts_pass(error)
        return Loaded(name, failure=Failure(_sentence(error), trace=traceback.format_exc()))
    return spec or Loaded(name, failure=Failure(f"there is no module {name}"))


def _let_interrupts_pass(error: BaseException) -> None:
    """Somebody who interrupts a process means all of it. Only its main thread is told."""
    if isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread():
        raise error


def _run(file: DefinitionFile) -> ModuleType:
    """Run the file anew, as the module of its name. A file without a package can import its neighbours."""
    if _is_path(file.name) and str(file.path.parent) not in sys.path:
        sys.path.append(str(file.path.parent))
    spec = ModuleSpec(file.module_name, None, origin=str(file.path))
    spec.has_location = True
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(file.module_name)
    sys.modules[file.module_name] = module
    try:
        # Compiled here and now: bytecode kept from before is trusted by the second of the last change.
        exec(compile(file.path.read_bytes(), str(file.path), "exec", dont_inherit=True), vars(module))  # noqa: S102
    except BaseException:
        if before is None:
            del sys.modules[file.module_name]
        else:
            sys.modules[file.module_name] = before
        raise
    return module


def _assets_in(module: ModuleType) -> list[Asset]:
    return list(dict.fromkeys(value for value in vars(module).values() if isinstance(value, Asset)))


def _failure(error: BaseException, path: Path) -> Failure:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    line = lines[-1] if lines else None
    if isinstance(error, SyntaxError) and error.filename == str(path):
        line = error.lineno
    return Failure(_sentence(error), line, _trace(error, frames, path))


def _trace(error: BaseException, frames: Sequence[traceback.FrameSummary], path: Path) -> str:
    """The traceback from the file's own first line on."""
    skip = next((place for place, frame in enumerate(frames) if frame.filename == str(path)), len(frames))
    shown = traceback.TracebackException.from_exception(error)
    shown.stack = traceback.StackSummary.from_list(frames[skip:])
    return "".join(shown.format())


def _sentence(error: BaseException) -> str:
    try:
        message = str(error)
    except Exception:  # the author's own class may raise anything there, too
        message = ""
    if isinstance(error, InvalidDefinition) and error.path:
        message = f"{error.path}: {message}"
    if isinstance(error, ImportError):
        message += _meant(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _meant(error: ImportError) -> str:
    """A name close to one that a module does not have, for those who do not know its names by heart."""
    wanted = re.match(r"cannot import name '(\w+)'", error.msg)
    names = [each for each in dir(sys.modules.get(error.name or "")) if not each.startswith("_")]
    near = get_close_matches(wanted[1], names, 1) if wanted and error.name else []
    return f"; did you mean {near[0]}?" if near else ""
