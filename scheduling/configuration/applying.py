"""Applies what definition files say; the steps are told in the package's first lines."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db import transaction

from core import locks
from core.models import Dag, DefinitionSource
from scheduling import holds, journal, overdue, reach, unloadable
from scheduling.algebra.errors import InvalidDefinition
from scheduling.authoring.files import Loaded, may_define
from scheduling.authoring.terms import check_dag_id
from scheduling.configuration.assets import write_assets
from scheduling.configuration.dags import DagWriter
from scheduling.configuration.deeds import DEFINITIONS
from scheduling.configuration.locking import lock_all
from scheduling.configuration.problems import note_problems
from scheduling.configuration.sensors import write_sensors
from scheduling.refiling import refile
from scheduling.runlog import storable


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What a look at the definitions found: files, assets and Dags, and a sentence for each trouble.

    `failed` of the files could not be loaded.
    """

    files: int
    assets: int
    dags: int
    troubles: tuple[str, ...] = ()
    failed: int = 0

    @property
    def ok(self) -> bool:
        return not self.troubles


@transaction.atomic
def apply(loaded: Sequence[Loaded], *, at: datetime) -> SyncReport:
    """Make the rows say what `loaded`, all definition files there are, say."""
    locks.hold_configuration()
    sources = _write_sources(loaded, at)
    assets = write_assets(loaded, at)
    complaints: dict[str, list[str]] = defaultdict(list, write_sensors(loaded, sources, at))
    writer = DagWriter(assets.rows, lock_all(), at)
    for name, sentence in assets.contradictions:
        complaints[name].append(sentence)
    for file in loaded:
        complaints[file.name] += _write_dags(file, sources[file.name], writer)
    _retire(loaded, writer, at)
    _relisten(writer, assets.redefined, at)
    note_problems(writer.written.values(), writer.problems, at)
    _complain(complaints, sources)
    return _report(loaded, writer, sources)


def _write_sources(loaded: Sequence[Loaded], at: datetime) -> dict[str, DefinitionSource]:
    """A row for each file, locked, so that two looks at the same files follow one another."""
    for file in sorted(loaded, key=lambda each: each.name):
        DefinitionSource.objects.get_or_create(name=file.name, defaults={"loaded_at": at})
    rows = {row.name: row for row in DefinitionSource.objects.select_for_update(no_key=True).order_by("name")}
    absent = [row for name, row in rows.items() if name not in {file.name for file in loaded}]
    for row in absent:
        row.fingerprint = row.error = row.traceback = ""
        row.error_line = None
    for file in loaded:
        row, failure = rows[file.name], file.failure
        row.loaded_at, row.fingerprint = at, file.fingerprint
        row.error, row.error_line, row.traceback = (
            (storable(failure.sentence), failure.line, storable(failure.trace)) if failure else ("", None, "")
        )
    DefinitionSource.objects.bulk_update(
        rows.values(), ["fingerprint", "error", "error_line", "traceback", "loaded_at"]
    )
    unloadable.note_loaded([*(rows[file.name] for file in loaded if not file.failure), *absent])
    return rows


def _write_dags(file: Loaded, source: DefinitionSource, writer: DagWriter) -> list[str]:
    """Write the Dags of one file; a sentence for each that has no row of its own to show its problem on."""
    complaints = []
    for authored in file.dags:
        try:
            dag_id = check_dag_id(authored.dag_id)
        except InvalidDefinition as refusal:
            complaints.append(str(refusal))
            continue
        if dag_id in writer.written:
            first = writer.written[dag_id].source
            complaints.append(f"Dag {dag_id} is defined in {first} already, and that one counts")
        else:
            writer.write(authored, source)
    return complaints


def _retire(loaded: Sequence[Loaded], writer: DagWriter, at: datetime) -> None:
    """What no file defines any more is inactive; what could not be loaded may define it still."""
    for dag in Dag.objects.active().exclude(dag_id__in=writer.written).select_related("source"):
        if dag.source is None or not may_define(loaded, dag.source.name):
            dag.is_active, dag.updated_at = False, at
            dag.save(update_fields=["is_active", "updated_at"])
            writer.retimed |= set(dag.outlets.values_list("asset_id", flat=True))
            journal.note("dag no longer defined", deed=DEFINITIONS, at=at, about=dag)


def _relisten(writer: DagWriter, redefined: Collection[int], at: datetime) -> None:
    """Let every process read anew how these Dags listen; file and judge what they hold by that.

    What others hold that counts on these to be in time is judged, too: that says anew when it will be late.
    So is what waits for an asset whose keys are others now: it may be in vain, or no more.
    """
    dags = [dag for dag in writer.written.values() if dag.pk in writer.relistened]
    for dag in dags:
        dag.revision, dag.updated_at = dag.revision + 1, at
        dag.save(update_fields=["revision", "updated_at"])
        refile(dag, deed=DEFINITIONS, at=at)
    others = overdue.counting_on(writer.retimed), reach.counting_on(redefined, writer.retimed)
    holds.judge_again({*dags, *chain(*others)}, at=at)


def _complain(complaints: dict[str, list[str]], sources: dict[str, DefinitionSource]) -> None:
    for name, sentences in complaints.items():
        if sentences and not sources[name].error:
            sources[name].error = "; ".join(sentences)
            sources[name].save(update_fields=["error"])


def _report(loaded: Sequence[Loaded], writer: DagWriter, sources: dict[str, DefinitionSource]) -> SyncReport:
    troubles = []
    for file in loaded:
        row = sources[file.name]
        if row.error:
            where = f", line {row.error_line}" if row.error_line else ""
            troubles.append(f"{row.name}{where}: {row.error}")
    for dag in writer.written.values():
        troubles += [
            f"Dag {dag.dag_id}: {each['sentence']}" for each in dag.problems if each["level"] == "error"
        ]
    assets = {asset.pk for asset in writer.assets.values() if asset.is_active}
    failed = sum(file.failure is not None for file in loaded)
    return SyncReport(len(loaded), len(assets), len(writer.written), tuple(troubles), failed)
