"""Writes Dags as their files define them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from core.models import Asset, Dag, DefinitionSource, ScheduleOverride
from scheduling import journal
from scheduling.algebra import specs
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.timetables import Timetable
from scheduling.authoring.dags import DAG
from scheduling.authoring.terms import Terms, terms_of
from scheduling.configuration import pools
from scheduling.configuration.deeds import DEFINITIONS
from scheduling.configuration.links import Links, links_of, write_dependencies, write_outlets
from scheduling.configuration.pausing import skip_ticks
from scheduling.configuration.problems import Problem
from scheduling.keeping import check_defined

RELISTENED = frozenset({"schedule", "is_active"})
RESCHEDULED = frozenset({"start_date", "end_date"})


@dataclass(slots=True)
class DagWriter:
    """Writes the Dags of one look at the definitions.

    `rows` are all that were there, locked, and `written` those of the files, by dag_id; `problems` by primary
    key; `relistened`: those that listen otherwise than before; `retimed`: assets whose keys may be
    expected at other times.
    """

    assets: Mapping[str, Asset]
    rows: Mapping[str, Dag]
    at: datetime
    written: dict[str, Dag] = field(default_factory=dict)
    problems: dict[int, list[Problem]] = field(default_factory=dict)
    relistened: set[int] = field(default_factory=set)
    retimed: set[int] = field(default_factory=set)

    def write(self, authored: DAG, source: DefinitionSource) -> None:
        """Write `authored`, or keep the Dag as it is and note why it was refused."""
        row = self.rows.get(authored.dag_id) or Dag(
            dag_id=authored.dag_id, is_paused=bool(authored.is_paused_upon_creation)
        )
        try:
            terms = terms_of(authored)
            fields, links = _fields(terms), links_of(terms.timetable, self.assets, self.at)
        except Exception as refusal:  # a plug-in may raise anything; it stops this Dag only
            self._save(row, {"source": source, "is_active": True})
            self._keep(row, [Problem("refused", "error", _sentence(refusal))])
        else:
            fields, counting = self._overridden(row, fields, links)
            pool = pools.for_definition(terms, at=self.at)
            self._write(row, fields | {"pool": pool, "source": source, "is_active": True}, terms, counting)
            problems = counting.problems if counting else []
            self._keep(row, [*problems, *pools.problems_of(terms, pool)])

    def _overridden(
        self, row: Dag, fields: dict[str, Any], links: Links
    ) -> tuple[dict[str, Any], Links | None]:
        """What is to be written of a Dag that somebody gave a schedule of its own: it listens by that.

        What the file says is kept beside it. Without links those that are there stay: the schedule that
        counts cannot be read, and says so on the page of the Dag.
        """
        # Asked after the row was locked: whoever gives or takes back a schedule locks it, too.
        override = ScheduleOverride.objects.filter(dag=row).first() if row.pk else None
        if override is None:
            return fields, links
        code = fields["schedule"]
        kept = {name: value for name, value in fields.items() if name not in told_by(None)}
        if override.code != code:
            journal.note(
                "code schedule changed", deed=DEFINITIONS, at=self.at, about=row, was=override.code, now=code
            )
            override.code = code
            override.save(update_fields=["code"])
            kept["revision"] = row.revision + 1
        try:
            timetable = specs.load(row.schedule, "timetable")
            return kept, links_of(timetable, self.assets, self.at)
        except Exception:  # a plug-in's class may be gone, or raise anything
            return kept, None

    def _write(self, row: Dag, fields: Mapping[str, Any], terms: Terms, links: Links | None) -> None:
        is_new = row.pk is None
        changed = self._save(row, fields)
        self.retimed |= write_outlets(row, terms, self.assets)
        if changed & (RELISTENED | RESCHEDULED):
            self.retimed |= set(row.outlets.values_list("asset_id", flat=True))
        relinked = links is not None and write_dependencies(row, links)
        if not is_new and (relinked or changed & RELISTENED):
            self.relistened.add(row.pk)

    def _save(self, row: Dag, fields: Mapping[str, Any]) -> set[str]:
        """Write what differs; the names of it."""
        is_new, was = row.pk is None, row.schedule
        changed = {name for name, value in fields.items() if getattr(row, name) != value}
        if not (is_new or changed):
            return changed
        for name in changed:
            setattr(row, name, fields[name])
        if is_new:
            row.created_at = self.at
        elif changed & RELISTENED:
            skip_ticks(row, self.at)
        elif changed & RESCHEDULED:
            row.next_tick_at = None
        row.updated_at = self.at
        row.save()
        self._note(row, changed, is_new=is_new, was=was)
        return changed

    def _note(self, row: Dag, changed: set[str], *, is_new: bool, was: object) -> None:
        moved: dict[str, Any] = (
            {"was": was, "now": row.schedule, "revision": row.revision + 1}
            if "schedule" in changed and not is_new
            else {}
        )
        event = "dag defined" if is_new else "dag changed"
        journal.note(event, deed=DEFINITIONS, at=self.at, about=row, changed=sorted(changed), **moved)

    def _keep(self, row: Dag, problems: list[Problem]) -> None:
        self.written[row.dag_id], self.problems[row.pk] = row, problems


def told_by(timetable: Timetable | None) -> dict[str, Any]:
    """What a Dag's row says of its timetable."""
    return {
        "schedule": None if timetable is None else specs.dump(timetable),
        "is_periodic": bool(timetable and timetable.periodic),
        "is_partitioned": bool(timetable and (timetable.partitioned or timetable.at_runtime)),
    }


def _fields(terms: Terms) -> dict[str, Any]:
    names = (
        *("description", "tags", "catchup", "max_active_runs", "max_attempts", "max_keys_per_run"),
        *("pool_slots", "start_date", "end_date"),
    )
    fields = {
        **{name: getattr(terms, name) for name in names},
        **asdict(terms.attempts),
        "executor": terms.executor.kind,
        "executor_terms": terms.executor.told(),
        **told_by(terms.timetable),
        "tasks": terms.tasks(),
    }
    for name, value in fields.items():
        check_defined(value, name)
    return fields


def _sentence(refusal: Exception) -> str:
    return str(refusal) if isinstance(refusal, PartitionError) else f"{type(refusal).__name__}: {refusal}"
