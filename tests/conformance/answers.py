"""What this project answers to a recorded question, in the form of the recording."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetLeaf, AssetRef, Leaf
from scheduling.algebra.keys import validate_key
from scheduling.algebra.mappers import Mapper
from scheduling.algebra.policies import WaitPolicy
from scheduling.algebra.temporal import TemporalMapper
from scheduling.algebra.timetables import PartitionedAssetTimetable, Timetable
from scheduling.algebra.windows import PeriodWindow, SegmentWindow
from tests.conformance import cron
from tests.conformance.vectors import Answer

UTC_ZONE = ZoneInfo("UTC")
SUBJECTS = {"mapper": "mapper", "window": "window", "policy": "wait_policy", "timetable": "timetable"}
"""The field of a case that holds a definition, and its kind."""

Op = Callable[[Any, dict[str, Any]], Answer]


def answer(case: dict[str, Any]) -> Answer:
    """Build the definition of a case and ask it; what is refused becomes an error with its stage."""
    field = next((field for field in SUBJECTS if field in case), "")
    try:
        subject = _built(case[field], SUBJECTS[field]) if field else None
    except Exception as error:
        return refused("construct", error)
    try:
        return OPS[case["op"]](subject, case)
    except Exception as error:
        return refused("call", error)


def _built(spec: dict[str, Any], kind: str) -> Any:
    """The definition; `None` is what the recordings call a Dag without a timetable."""
    if spec.get("type") in cron.CLASSES:
        return cron.built(spec)
    return Timetable() if spec.get("type") == "None" else specs.load(spec, kind)


def refused(stage: str, error: Exception) -> Answer:
    return {"error": {"stage": stage, "raised": error}}


def utc(instant: datetime | None) -> str | None:
    return None if instant is None else instant.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _construct(subject: Any, case: dict[str, Any]) -> Answer:
    return {"ok": True}


def _to_downstream(mapper: Mapper, case: dict[str, Any]) -> Answer:
    return {"keys": list(mapper.to_downstream(case["key"]))}


def _decode(mapper: Mapper, case: dict[str, Any]) -> Answer:
    if not isinstance(mapper, TemporalMapper):
        return {"decoded": case["key"]}
    if mapper.output.has_offset:
        return {"decoded": utc(mapper.partition_date(case["key"]))}
    return {"decoded": mapper.keys.start_of(case["key"]).isoformat()}


def _encode(mapper: Mapper, case: dict[str, Any]) -> Answer:
    if not isinstance(mapper, TemporalMapper):
        return {"key": case["value"]}
    value = datetime.fromisoformat(case["value"])
    if value.tzinfo is not None:
        return {"key": mapper.input.format(value, mapper.zone)}
    return {"key": mapper.input.spell(value, mapper.zone)}


def _partition_date(mapper: Mapper, case: dict[str, Any]) -> Answer:
    return {"partition_date": utc(mapper.partition_date(case["key"]))}


def _to_upstream(mapper: Mapper, case: dict[str, Any]) -> Answer:
    keys = sorted(mapper.required(case["key"]) or ())
    return {"count": len(keys), "keys": keys}


def _window(window: PeriodWindow | SegmentWindow, case: dict[str, Any]) -> Answer:
    if isinstance(window, SegmentWindow):
        return {"members": sorted(window.segments)}
    anchor = datetime.fromisoformat(case["anchor"])
    return {"members": [wall.isoformat() for wall in window.walls(anchor, UTC_ZONE)]}


def _wait_counts(policy: WaitPolicy, case: dict[str, Any]) -> Answer:
    return _waited(policy, case["matched"], case["expected"])


def _wait_keys(policy: WaitPolicy, case: dict[str, Any]) -> Answer:
    expected = set(case["expected"])
    return _waited(policy, len(expected & set(case["matched"])), len(expected))


def _waited(policy: WaitPolicy, received: int, required: int) -> Answer:
    return {"satisfied": policy.satisfied(received, required), "unreachable": policy.unreachable(required)}


def _rollup_status(mapper: Mapper, case: dict[str, Any]) -> Answer:
    required = mapper.required(case["key"]) or ()
    counted = {mapper.counts_as(key): key for key in case["arrived"]}
    waited = _waited(mapper.wait_policy, len(counted.keys() & set(required)), len(required))
    return {
        "expected": len(required),
        "received": len(counted.keys() & set(required)),
        "missing": sorted(set(required) - counted.keys()),
        "unexpected": sorted(key for counts_as, key in counted.items() if counts_as not in required),
        **waited,
        "fires": waited["satisfied"] and not waited["unreachable"],
    }


def _lookup(timetable: PartitionedAssetTimetable, case: dict[str, Any]) -> Answer:
    name, uri = case["name"], case["uri"]
    leaf = AssetLeaf(name) if name or not uri else _asset_at(uri, timetable)
    mapper = timetable.mapper_for(leaf, name=name, uri=uri)
    return {"mapper": type(mapper).__name__, "is_rollup": mapper.is_rollup}


def _asset_at(uri: str, timetable: PartitionedAssetTimetable) -> Leaf:
    """In the recorded world the asset `a` lives at `x://lake/a`."""
    configured = [leaf for leaf, _ in timetable.partition_mapper_config if isinstance(leaf, AssetLeaf)]
    return next((leaf for leaf in configured if uri == f"x://lake/{leaf.name}"), AssetRef(uri=uri))


def _mapper_info(timetable: PartitionedAssetTimetable, case: dict[str, Any]) -> Answer:
    """The recorded world puts the asset `a` at `x://lake/a`; a reference has just what it was named by."""
    info = []
    for leaf in timetable.assets.leaves():
        named = {"name": leaf.name, "uri": f"x://lake/{leaf.name}"} if isinstance(leaf, AssetLeaf) else None
        named = named or ({"name": leaf.name} if leaf.name else {"uri": leaf.uri})
        info.append({**named, "is_rollup": timetable.mapper_for(leaf).is_rollup})
    return {"info": info}


def _roundtrip(mapper: Mapper, case: dict[str, Any]) -> Answer:
    return {"stable": specs.load(specs.dump(mapper), "mapper") == mapper}


def _resolve(timetable: Timetable, case: dict[str, Any]) -> Answer:
    return {"partition_date": utc(timetable.resolve(case["key"]))}


def _validate_key(timetable: Timetable, case: dict[str, Any]) -> Answer:
    timetable.accept_key(case["key"])
    return {"ok": True}


def _event_key(subject: None, case: dict[str, Any]) -> Answer:
    if case["key"] is not None:
        validate_key(case["key"])
    return {"ok": True}


def _scenario(subject: None, case: dict[str, Any]) -> Answer:
    """Played in the database; nothing of it stays. What is refused is so when a Dag is defined."""
    from django.db import transaction

    from tests.conformance import worlds

    with transaction.atomic():
        try:
            return worlds.play(case["scenario"])
        except Exception as error:
            return refused("construct", error)
        finally:
            transaction.set_rollback(True)


def not_played(case: dict[str, Any]) -> str:
    """Why the engine is not asked to play a world; empty if it is."""
    strange = sorted({step["do"] for step in case["scenario"]["steps"]} - PLAYED)
    return f"`{strange[0]}` is a step of Airflow's own" if strange else ""


PLAYED = frozenset(
    ("event", "tick", "trigger", "api_trigger", "finish", "pause", "unpause", "redefine", "pending")
)
"""The steps of worlds that the engine plays."""

OPS: dict[str, Op] = {
    "scenario": _scenario,
    "construct": _construct,
    "to_downstream": _to_downstream,
    "decode": _decode,
    "encode": _encode,
    "partition_date": _partition_date,
    "to_upstream": _to_upstream,
    "window": _window,
    "wait_counts": _wait_counts,
    "wait_keys": _wait_keys,
    "rollup_status": _rollup_status,
    "lookup": _lookup,
    "mapper_info": _mapper_info,
    "roundtrip": _roundtrip,
    "resolve": _resolve,
    "validate_key": _validate_key,
    "event_key": _event_key,
    **cron.OPS,
}
