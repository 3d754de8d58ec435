"""Dags that start each other in a circle, so that one event may be followed by others for ever."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from scheduling.algebra.timetables import AssetTimetable, PartitionedAssetTimetable, Timetable

Steps = Mapping[int, Iterable[tuple[int, int]]]
"""By Dag: (asset that it writes, Dag which that starts), by primary keys."""

ENDS_HERE = ("hold", "mark_stale")


def starts(producer: Timetable | None, consumer: Timetable | None) -> bool:
    """Whether what runs of `producer` write starts `consumer` again, whatever it has run for before."""
    has_keys = producer is not None and (producer.partitioned or producer.at_runtime)
    if isinstance(consumer, PartitionedAssetTimetable):
        return has_keys and consumer.late not in ENDS_HERE
    return isinstance(consumer, AssetTimetable) and (consumer.accept_partitioned or not has_keys)


def shortest(steps: Steps) -> dict[int, list[int]]:
    """For each Dag that is in a circle the shortest: the Dag, an asset, the next Dag … and itself again."""
    rest = _trimmed(steps)
    found = {dag: _back_to(dag, rest) for dag in rest}
    return {dag: path for dag, path in found.items() if path}


def _trimmed(steps: Steps) -> dict[int, list[tuple[int, int]]]:
    """Without Dags that start none, or none but such: usually nothing is left."""
    rest = {dag: list(onward) for dag, onward in steps.items()}
    before = defaultdict(set)
    for dag, onward in rest.items():
        for _, following in onward:
            before[following].add(dag)
    ends = [dag for dag in before if not rest.get(dag)]
    while ends:
        end = ends.pop()
        rest.pop(end, None)
        for dag in before[end] & rest.keys():
            rest[dag] = [step for step in rest[dag] if step[1] != end]
            if not rest[dag]:
                ends.append(dag)
    return {dag: onward for dag, onward in rest.items() if onward}


def _back_to(start: int, steps: Steps) -> list[int]:
    paths = [[start]]
    seen = set()
    for path in paths:
        for asset, following in steps.get(path[-1], ()):
            if following == start:
                return [*path, asset, following]
            if following not in seen:
                seen.add(following)
                paths.append([*path, asset, following])
    return []
