"""Changes how a Dag listens, beside what its file says.

1. Whoever changes it says which revision they have seen; if there is a newer one, nothing is done.
2. The new schedule is read and checked. One that cannot be is refused with the JSON path of what is wrong.
3. Schedule, dependencies and journal are written in one transaction, and what is held is filed anew.
4. What the file says is kept (`ScheduleOverride.code`), brought up to date whenever files are read, and can
   be taken back.

Nothing that was received is lost; what has fired stays fired.
"""

from dataclasses import replace
from datetime import datetime
from typing import Any

from django.db import transaction

from core.models import Asset, Dag, ScheduleOverride
from scheduling import holds, journal, overdue, reach
from scheduling.algebra import specs
from scheduling.algebra.differences import differences
from scheduling.algebra.errors import InvalidDefinition, PartitionError, within
from scheduling.algebra.timetables import PartitionedAssetTimetable, Timetable
from scheduling.authoring.terms import LISTENING
from scheduling.configuration import history
from scheduling.configuration.dags import told_by
from scheduling.configuration.links import Links, links_of, write_dependencies
from scheduling.configuration.locking import lock_around
from scheduling.configuration.pausing import skip_ticks
from scheduling.configuration.problems import renote_problems
from scheduling.journal import Deed
from scheduling.keeping import check_defined
from scheduling.refiling import refile

MOST_TOLD = 6
"""Differences that a refusal names; more are counted."""


TICKS = ("ticked_until", "next_tick_at")


class StaleSchedule(PartitionError):
    """The Dag listens otherwise than whoever changes it has seen."""


class NotChangeable(PartitionError):
    """A Dag whose schedule cannot be changed here, or not in that way."""


class ReasonNeeded(PartitionError):
    """Nobody will know why."""


def read_schedule(dag: Dag, spec: object) -> Timetable:
    """The timetable that `spec` describes, if `dag` can listen by it. Reads only.

    :raises InvalidDefinition: with the JSON path of what is wrong.
    :raises NotChangeable: if the Dag listens to no assets.
    """
    kind = dag.schedule.get("type") if isinstance(dag.schedule, dict) else None
    kinds = {each.__name__: each for each in LISTENING}
    if kind not in kinds:
        raise NotChangeable(
            f"Dag {dag.dag_id} listens to no assets: when it runs is said in its file, and changed there"
        )
    try:
        timetable: Timetable = specs.load(spec, "timetable")
        timetable.check()
    except PartitionError:
        raise
    except Exception as error:  # a plug-in's class may raise anything
        raise InvalidDefinition(f"it cannot be read: {type(error).__name__}: {error}") from error
    if not isinstance(timetable, kinds[kind]):
        raise InvalidDefinition(
            f"Dag {dag.dag_id} has a {kind}, and keeps one; {type(timetable).__name__} is another",
            path="type",
        )
    check_defined(specs.dump(timetable), "it")
    return timetable


def change_schedule(dag: Dag, spec: object, *, deed: Deed, at: datetime, revision: int) -> bool:
    """Let `dag` listen by `spec`. What says the same as its file is no override.

    :param revision: the revision of the Dag that `deed` is about, as it was seen.
    :returns: whether that changed anything.
    :raises InvalidDefinition: with the JSON path of what is wrong.
    :raises StaleSchedule: if the Dag has another revision; the sentence says what has changed since.
    """
    with transaction.atomic():
        row = _locked(dag, deed, revision)
        timetable = read_schedule(row, spec)
        override = ScheduleOverride.objects.filter(dag=row).first()
        now = specs.dump(timetable)
        if canonical(row.schedule) == now:
            return False
        code = row.schedule if override is None else override.code
        journal.note(
            history.CHANGED, deed=deed, at=at, about=row, was=row.schedule, now=now, revision=revision + 1
        )
        if canonical(code) == now and override is not None:
            override.delete()
        else:
            _override(row, code, deed, at)
        _listen(row, timetable, deed=deed, at=at)
    dag.refresh_from_db()
    return True


def change_mapper(dag: Dag, asset: str, mapper: object, *, deed: Deed, at: datetime, revision: int) -> bool:
    """`change_schedule` for the mapper of one of the Dag's assets.

    :raises InvalidDefinition: also if the Dag does not listen to an asset of that name.
    """
    timetable = read_schedule(dag, dag.schedule)
    if not isinstance(timetable, PartitionedAssetTimetable):
        raise NotChangeable(f"Dag {dag.dag_id} counts any event of its assets: it has no mappers")
    links = links_of(timetable, _assets(), at).wanted.values()
    leaf = next((specs.load(each.leaf, "condition") for each in links if _is_of(each, asset)), None)
    if leaf is None:
        raise InvalidDefinition(f"Dag {dag.dag_id} does not listen to an asset {asset!r}", path="asset")
    config = dict(timetable.partition_mapper_config) | {leaf: within("mapper", specs.load, mapper, "mapper")}
    new = replace(timetable, partition_mapper_config=tuple(config.items()), partition_mapper=None)
    return change_schedule(dag, specs.dump(new), deed=deed, at=at, revision=revision)


def back_to_code(dag: Dag, *, deed: Deed, at: datetime, revision: int) -> bool:
    """Let `dag` listen as its file says.

    :returns: whether that changed anything.
    :raises StaleSchedule: if the Dag has another revision than `revision`.
    """
    with transaction.atomic():
        row = _locked(dag, deed, revision)
        override = ScheduleOverride.objects.filter(dag=row).first()
        if override is None:
            return False
        timetable = specs.load(override.code, "timetable") if override.code else None
        journal.note(
            history.BACK,
            deed=deed,
            at=at,
            about=row,
            was=row.schedule,
            now=override.code,
            revision=revision + 1,
        )
        override.delete()
        _listen(row, timetable, deed=deed, at=at)
    dag.refresh_from_db()
    return True


def check_seen(dag: Dag, revision: int) -> None:
    """:raises StaleSchedule: if `dag` has another revision; the sentence says what has changed since."""
    if dag.revision != revision:
        raise StaleSchedule(_since(dag, revision))


def canonical(spec: object) -> object:
    """A stored schedule as it would be written now, so that two that mean the same are the same."""
    try:
        return specs.dump(specs.load(spec, "timetable")) if spec else None
    except Exception:  # it cannot be read: it is what it is
        return spec


def assets_of(dag: Dag, spec: object) -> list[Asset | None]:
    """The assets that `dag` would listen to by `spec` under other names than it does; None: not defined yet.

    :raises InvalidDefinition: with the JSON path of what is wrong with it.
    """
    return links_for(read_schedule(dag, spec), dag.updated_at).beside(dag)


def links_for(timetable: Timetable | None, at: datetime) -> Links:
    """What a Dag with that timetable listens to, not written."""
    return links_of(timetable, _assets(), at)


def _locked(dag: Dag, deed: Deed, revision: int) -> Dag:
    if not deed.reason.strip():
        raise ReasonNeeded(f"say why the schedule of {dag.dag_id} changes: the reason is kept in the journal")
    row = lock_around(dag)
    check_seen(row, revision)
    if not row.is_active:
        raise NotChangeable(f"no file defines Dag {row.dag_id} any more: it listens to nothing")
    return row


def _since(row: Dag, revision: int) -> str:
    """What has become of the schedule since `revision`."""
    begin = (
        f"you have seen revision {revision} of how {row.dag_id} listens; it is at {row.revision} now, "
        "and nothing of yours was saved"
    )
    later = [each for each in history.versions(row) if (each.revision or 0) > revision and not each.is_aside]
    if not later:
        return f"{begin}: it was read anew from its file"
    told = [each.sentence() for each in differences(later[-1].was, later[0].now)]
    more = f" and {len(told) - MOST_TOLD} more" if len(told) > MOST_TOLD else ""
    who = ", ".join(dict.fromkeys(each.by for each in later))
    return f"{begin}. {who} changed {'; '.join(told[:MOST_TOLD]) or 'nothing in the end'}{more}"


def _override(row: Dag, code: Any, deed: Deed, at: datetime) -> None:
    said = {"code": code, "by": deed.by, "via": deed.via, "reason": deed.reason, "at": at}
    ScheduleOverride.objects.update_or_create(dag=row, defaults=said)


def _listen(row: Dag, timetable: Timetable | None, *, deed: Deed, at: datetime) -> None:
    """Write `timetable` as what counts, file and judge what is held by it, and say what is wrong with it."""
    links = links_for(timetable, at)
    for name, value in told_by(timetable).items():
        setattr(row, name, value)
    if row.is_periodic:
        skip_ticks(row, at)
    row.revision, row.updated_at = row.revision + 1, at
    row.save(update_fields=[*told_by(None), *TICKS, "revision", "updated_at"])
    write_dependencies(row, links)
    refile(row, deed=deed, at=at)
    made = set(row.outlets.values_list("asset_id", flat=True))
    holds.judge_again({row, *overdue.counting_on(made), *reach.counting_on((), made)}, at=at)
    renote_problems(row, links.problems, at)


def _assets() -> dict[str, Asset]:
    return {asset.name: asset for asset in Asset.objects.all()}


def _is_of(link: Any, asset: str) -> bool:
    return link.asset.name == asset if link.asset else asset in link.leaf.values()
