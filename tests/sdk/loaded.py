"""Files of definitions, written and loaded."""

from pathlib import Path
from textwrap import dedent

from scheduling.authoring import files
from scheduling.authoring.files import DefinitionFile, Loaded


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


def load(path: Path) -> Loaded:
    [file] = files.find(str(path))
    assert isinstance(file, DefinitionFile)
    return files.load(file)


def dag_ids(loaded: Loaded) -> list[str]:
    assert loaded.failure is None, loaded.failure
    return [dag.dag_id for dag in loaded.dags]
