"""Definition files become rows; rows find their way back to the functions that a run calls."""

import threading
from collections.abc import Sequence
from datetime import datetime

from core.models import Dag, DefinitionSource, Sensor
from scheduling import configuration
from scheduling.algebra.errors import PartitionError
from scheduling.authoring import files
from scheduling.authoring.dags import DAG
from scheduling.authoring.files import DefinitionFile, Loaded
from scheduling.authoring.sensors import Sensor as AuthoredSensor
from scheduling.configuration import SyncReport


class NotDefined(PartitionError):
    """No file defines the Dag or sensor any more, or the file cannot be loaded."""


class CannotLoad(NotDefined):
    """The file that defined it cannot be loaded now: it may be whole again in a moment."""


def sync(sources: Sequence[str], *, at: datetime) -> SyncReport:
    """Load every file of `sources`, paths or modules, and write what they define.

    A file that cannot be loaded keeps what it defined before and is shown with its error; others are loaded.
    What a loaded file no longer defines, and what no source holds any more, becomes inactive.
    """
    found = [each for source in sources for each in files.find(source)]
    distinct = {each.name: each for each in found}
    return configuration.apply([_load(each) for each in distinct.values()], at=at)


def authored(dag: Dag) -> DAG:
    """The Dag as its file defines it now. A file is run again only when it has changed.

    :raises NotDefined: naming the file.
    :raises CannotLoad: naming the file and its error.
    """
    if dag.source is None:
        raise NotDefined(f"Dag {dag} has no tasks here: no definition file holds it")
    loaded = _loaded_from(dag.source)
    for each in loaded.dags:
        if each.dag_id == dag.dag_id:
            return each
    raise NotDefined(f"{loaded.name} does not define Dag {dag} any more")


def authored_sensor(sensor: Sensor) -> AuthoredSensor:
    """The sensor as its file defines it now.

    :raises NotDefined: naming the file and its error.
    """
    if sensor.source is None:
        raise NotDefined(f"no definition file holds sensor {sensor}")
    loaded = _loaded_from(sensor.source)
    for each in loaded.sensors:
        if each.name == sensor.name:
            return each
    raise NotDefined(f"{loaded.name} does not define sensor {sensor} any more")


def _loaded_from(source: DefinitionSource) -> Loaded:
    file = files.named(source.name)
    loaded = _kept(file) if isinstance(file, DefinitionFile) else file
    if loaded.failure:
        where = f", line {loaded.failure.line}" if loaded.failure.line else ""
        raise CannotLoad(f"{loaded.name}{where} cannot be loaded: {loaded.failure.sentence}")
    return loaded


_loaded: dict[str, Loaded] = {}
_loading = threading.Lock()


def _kept(file: DefinitionFile) -> Loaded:
    with _loading:
        known = _loaded.get(file.name)
        # What failed may have been another file, or the disk: it is not kept.
        if known is None or known.failure or known.fingerprint != _fingerprint(file):
            known = _loaded[file.name] = files.load(file)
    return known


def _load(file: DefinitionFile | Loaded) -> Loaded:
    return files.load(file) if isinstance(file, DefinitionFile) else file


def _fingerprint(file: DefinitionFile) -> str:
    try:
        return file.fingerprint()
    except OSError:
        return ""
