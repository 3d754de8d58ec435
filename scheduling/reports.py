"""What another system says of a run that it has executed, and what follows from it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.models import DagRun, Outlet
from scheduling import claims, keeping, listening, retries
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.keys import validate_key
from scheduling.authoring.outlets import NotAnOutlet
from scheduling.claims import Output

LONGEST_REASON = 50_000


class InvalidReport(PartitionError):
    """A report that does not say what happened."""


@dataclass(frozen=True, slots=True)
class Written:
    """An asset that the run wrote: the keys of its partitions, each with its extra (None: the run's own)."""

    asset: str
    keys: Mapping[str, dict[str, Any]] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """`error` is why it failed; empty if it went well. `failed_keys`: those of the run that were given up.

    An outlet that `written` leaves out was written for the run's own key.
    """

    error: str = ""
    written: Sequence[Written] = ()
    failed_keys: Mapping[str, str] = field(default_factory=dict)


def read(outputs: object = None, failed_keys: object = None, error: str = "") -> Report:
    """A report from JSON: `[{"asset": "name", "keys": ["k"] or {"k": {extra}}, "extra": {}}]`.

    :raises InvalidReport: naming what cannot be; InvalidKey for a key, NotKept for an extra.
    """
    written = [_written(each) for each in _listed("outputs", outputs)]
    names = [each.asset for each in written]
    if twice := {name for name in names if names.count(name) > 1}:
        raise InvalidReport(f"outputs name {twice.pop()} twice")
    return Report(error[:LONGEST_REASON], written, _reasons(failed_keys))


def conclude(run: DagRun, report: Report, *, at: datetime) -> None:
    """End `run`, which whoever reports has claimed.

    :raises NotAnOutlet: if the report names an asset that the Dag does not write.
    :raises LeaseLost: if the run is not theirs any more.
    """
    if report.error:
        retries.fail(run, report.error, at=at)
    else:
        outputs = list(_outputs(run, report))
        claims.succeed(run, outputs, at=at, failed_keys=report.failed_keys)


def _outputs(run: DagRun, report: Report) -> Iterable[Output]:
    outlets = {
        row.asset.name: row
        for row in Outlet.objects.filter(dag=run.dag).select_related("asset").order_by("pk")
    }
    said = {each.asset: each for each in report.written}
    if strange := said.keys() - outlets.keys():
        declared = ", ".join(outlets) or "none"
        raise NotAnOutlet(f"{strange.pop()} is not an outlet of Dag {run.dag}, whose outlets are: {declared}")
    for name, row in outlets.items():
        one = said.get(name, Written(name))
        if one.keys is not None or not _names_keys(run):
            yield Output(
                row.asset,
                keys=None if one.keys is None else list(one.keys),
                extra=dict(one.extra),
                extras=dict(one.keys or {}),
                task_id=row.task_id,
            )


def _names_keys(run: DagRun) -> bool:
    """Whether the keys are for whoever executes the run to name, and it has none itself."""
    return bool(getattr(listening.timetable_of(run.dag), "at_runtime", False)) and not run.keys


def _written(value: object) -> Written:
    if not isinstance(value, dict) or not isinstance(value.get("asset"), str):
        raise InvalidReport('each of outputs is an object with the name of an "asset"')
    if unknown := value.keys() - {"asset", "keys", "extra"}:
        raise InvalidReport(f'an output has "asset", "keys" and "extra", not {sorted(unknown)[0]!r}')
    name, extra = value["asset"], value.get("extra") or {}
    keeping.check(extra, f"the extra of {name}")
    return Written(name, _keys(value.get("keys"), name), extra)


def _keys(value: object, name: str) -> dict[str, dict[str, Any]] | None:
    if value is None:
        return None
    if isinstance(value, list):
        return {validate_key(key): {} for key in value}
    if not isinstance(value, dict):
        raise InvalidReport(f"the keys of {name} are a list, or an object with the extra of each key")
    for extra in value.values():
        keeping.check(extra, f"the extra of {name}")
    return {validate_key(key): extra for key, extra in value.items()}


def _listed(name: str, value: object) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise InvalidReport(f"{name} is a list")
    return value


def _reasons(value: object) -> dict[str, str]:
    if value is None:
        return {}
    if isinstance(value, dict) and all(isinstance(reason, str) for reason in value.values()):
        return {key: reason[:1000] or "it was given up" for key, reason in value.items()}
    raise InvalidReport("failed_keys is an object: each key that was given up with the reason")
