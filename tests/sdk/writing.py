"""Definition files for tests: written, loaded and looked at as rows."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import dedent

from core.models import Asset, Dag, DefinitionSource
from scheduling import definitions
from scheduling.configuration import SyncReport

NOW = datetime(2026, 3, 11, 9, 10, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)


class Directory:
    """A directory of definition files. `sync` loads what it holds now."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, name: str, text: str) -> str:
        """Write one file; the name under which it is recorded."""
        file = self.path / f"{name}.py"
        file.write_text("from scheduling.sdk import *\n" + dedent(text))
        return str(file)

    def remove(self, name: str) -> None:
        (self.path / f"{name}.py").unlink()

    def sync(self, at: datetime = NOW) -> SyncReport:
        return definitions.sync([str(self.path)], at=at)


def dag(dag_id: str) -> Dag:
    return Dag.objects.get(dag_id=dag_id)


def asset(name: str) -> Asset:
    return Asset.objects.get(name=name)


def source(name: str) -> DefinitionSource:
    return DefinitionSource.objects.get(name=name)


def listens(dag_id: str) -> list[tuple[str | None, str | None]]:
    """(asset, type of mapper) for each dependency of the Dag, as they were written."""
    return [
        (each.asset and each.asset.name, each.mapper and each.mapper["type"])
        for each in dag(dag_id).dependencies.order_by("pk")
    ]


def writes(dag_id: str) -> list[tuple[str, str]]:
    """(task, asset) for each outlet of the Dag."""
    return sorted(dag(dag_id).outlets.values_list("task_id", "asset__name"))


def sentences(dag_id: str, level: str = "error") -> list[str]:
    return [each["sentence"] for each in dag(dag_id).problems if each["level"] == level]
