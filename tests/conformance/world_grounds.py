"""What happened in a world, told alike for both systems, and on what grounds Partita's may differ.

A difference counts as explained only from the step on that gives rise to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from tests.conformance import facts
from tests.conformance.vectors import Answer, Vector

Step = dict[str, Any]


def alike(theirs: Answer, ours: Answer, *, dated: bool = True) -> bool:
    """Whether the same happened; in which order at one step, and what an error is called, does not matter."""
    if "import_errors" in theirs or "error" in ours:
        return "import_errors" in theirs and ours.get("error", {}).get("stage") == "construct"
    return _first_difference(theirs, ours, dated=dated) is None


def dates_of_keys(vector: Vector, ours: Answer) -> bool:
    return _carries_dates(vector) and "error" not in ours and alike(vector.expect, ours, dated=False)


def counts_while_paused(vector: Vector, ours: Answer) -> bool:
    return _since(vector, ours, lambda step: step["do"] == "pause")


def moves_with_a_definition(vector: Vector, ours: Answer) -> bool:
    return _since(vector, ours, lambda step: "schedule" in step.get("spec", ()))


def there_without_partitions(vector: Vector, ours: Answer) -> bool:
    several = any("all" in spec["assets"] or "any" in spec["assets"] for spec in _consumers(vector))
    return several and _since(
        vector, ours, lambda step: step["do"] == "event" and step.get("key", "") is None
    )


def plain_without_keys(vector: Vector, ours: Answer) -> bool:
    plain = bool(facts.of_type(vector.case, "AssetList"))
    return plain and _since(vector, ours, lambda step: step["do"] == "event" and bool(step.get("key")))


def free_run_ids(vector: Vector, ours: Answer) -> bool:
    def is_refused(step: Step) -> bool:
        return step["do"] == "trigger" and ("run_id" in step or "run_after" in step)

    return _since(vector, ours, is_refused)


def sloppy_key(vector: Vector, ours: Answer) -> bool:
    texts = [text for text, _ in facts.formats(vector.case)]

    def is_sloppy(step: Step) -> bool:
        spelled = [facts.spelled(text, key) for key in _keys(step) for text in texts]
        return any(found is not None and found not in _keys(step) for found in spelled)

    return _since(vector, ours, is_sloppy)


def keys_with_offsets(vector: Vector, ours: Answer) -> bool:
    rollups = facts.of_type(vector.case, "RollupMapper")
    zoned = any("%z" in text for text, _ in facts.formats(rollups))
    return zoned and _since(vector, ours, lambda step: step["do"] == "event")


def _since(vector: Vector, ours: Answer, is_cause: Callable[[Step], bool]) -> bool:
    """Whether the first difference is at, or after, a step that is a cause."""
    if vector.op != "scenario" or "steps" not in ours or "import_errors" in vector.expect:
        return False
    first = _first_difference(vector.expect, ours, dated=not _carries_dates(vector))
    steps = vector.case["scenario"]["steps"]
    return first is not None and any(is_cause(step) for step in steps[: first + 1])


def _first_difference(theirs: Answer, ours: Answer, *, dated: bool) -> int | None:
    ends = [{"pending": each["pending"]} for each in (theirs, ours)]
    pairs = [*zip(theirs["steps"], ours["steps"], strict=True), ends]
    differing = (
        place for place, (one, other) in enumerate(pairs) if _plain(one, dated) != _plain(other, dated)
    )
    return next(differing, None)


def _carries_dates(vector: Vector) -> bool:
    return vector.op == "scenario" and any(
        "partition_date" in step for step in vector.case["scenario"]["steps"]
    )


def _consumers(vector: Vector) -> list[Step]:
    return facts.of_type(vector.case, "PartitionedAssetTimetable")


def _keys(step: Step) -> list[str]:
    return [key for key in (step.get("key"), *step.get("repeat_keys", ())) if key]


def _plain(step: Answer, dated: bool) -> Answer:
    return {
        "refused": "error" in step,
        "audit": sorted(step.get("audit", ())),
        "targets": sorted({(each["dag"], each["key"]) for each in step.get("targets", ())}),
        "runs": sorted(_plain_run(run, dated) for run in _not_scheduled(step.get("runs", ()))),
        "pending": _plain_held(step.get("pending", ())),
        "changed": step.get("changed"),
    }


def _not_scheduled(found: Iterable[Answer]) -> list[Answer]:
    """Ticks of crons are asked apart (`cron_iter`)."""
    return [run for run in found if run["run_type"] != "scheduled"]


def _plain_run(run: Answer, dated: bool) -> tuple[str, ...]:
    names = ("dag", "key", "run_type", *(["partition_date"] if dated else []))
    return (*(run[name] or "" for name in names), *sorted(run["source_keys"]))


def _plain_held(found: Iterable[Answer]) -> list[tuple[Any, ...]]:
    return sorted((each["dag"], each["key"], *_plain_received(each["received"])) for each in found)


def _plain_received(received: dict[str, list[str]]) -> list[tuple[str, ...]]:
    return [(asset, *sorted(set(keys))) for asset, keys in sorted(received.items())]
