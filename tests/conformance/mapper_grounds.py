"""On what grounds mappers that are made of others may differ: rollups, products, chains and fan-outs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.conformance import facts
from tests.conformance.vectors import Answer, Vector, refuses


def member_grain(vector: Vector, ours: Answer) -> bool:
    return any(upstream == member for upstream, member, _ in _rollups(vector.case))


def neither_grain(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(
        upstream not in (member, facts.PERIODS[window["type"]][0])
        for upstream, member, window in _rollups(vector.case)
    )


def collapsed(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(
        facts.coarser(
            facts.resolution(spec["upstream_mapper"].get("input_format", facts.INPUT)),
            facts.member(spec["window"]),
        )
        for spec in facts.of_type(vector.case, "RollupMapper")
        if spec["upstream_mapper"]["type"] in facts.OUTPUTS and spec["window"]["type"] in facts.PERIODS
    )


def backward(vector: Vector, ours: Answer) -> bool:
    return vector.op == "to_downstream" and any(
        window.get("direction") == "backward" for _, _, window in _rollups(vector.case)
    )


def never_whole(vector: Vector, ours: Answer) -> bool:
    return any(
        spec["window"]["type"] == "SegmentWindow" and spec["upstream_mapper"]["type"] != "FixedKeyMapper"
        for spec in facts.of_type(vector.case, "RollupMapper")
    )


def other_segment_key(vector: Vector, ours: Answer) -> bool:
    return refuses(ours, "call") and any(
        spec["window"]["type"] == "SegmentWindow"
        and spec["upstream_mapper"].get("downstream_key") != vector.case.get("key")
        for spec in facts.of_type(vector.case, "RollupMapper")
    )


def unreachable(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(
        (spec.get("wait_policy") or {}).get("n", 0) > 0
        for spec in facts.of_type(vector.case, "RollupMapper")
        if isinstance((spec.get("wait_policy") or {}).get("n", 0), int)
    )


def nested_rollup(vector: Vector, ours: Answer) -> bool:
    return any(
        facts.of_type(spec.get("mappers"), "RollupMapper")
        for spec in facts.of_type(vector.case, "ProductMapper", "ChainMapper")
    )


def fan_out_in_product(vector: Vector, ours: Answer) -> bool:
    return any(
        facts.of_type(spec["mappers"], "FanOutMapper") for spec in facts.of_type(vector.case, "ProductMapper")
    )


def escaped(vector: Vector, ours: Answer) -> bool:
    return any(
        spec.get("delimiter", "|") in str(part.get("downstream_key", ""))
        for spec in facts.of_type(vector.case, "ProductMapper")
        for part in spec["mappers"]
    ) or ("\\" in str(vector.case.get("key")) and bool(facts.of_type(vector.case, "ProductMapper")))


def counted_once(vector: Vector, ours: Answer) -> bool:
    theirs = vector.expect.get("keys", [])
    return list(dict.fromkeys(theirs)) == ours.get("keys") and len(theirs) != len(ours["keys"])


def unread_link(vector: Vector, ours: Answer) -> bool:
    chains = [spec.get("mappers", []) for spec in facts.of_type(vector.case, "ChainMapper")]
    unread = any(facts.unread(*pair) for parts in chains for pair in pairwise(parts))
    return refuses(ours) and bool(chains) and (unread or vector.fails)


def fan_out_types(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(
        (spec["upstream_mapper"]["type"] in facts.OUTPUTS) != (spec["window"]["type"] in facts.PERIODS)
        or (
            spec["window"]["type"] == "SegmentWindow"
            and (spec.get("downstream_mapper") or {}).get("type") in facts.OUTPUTS
        )
        for spec in facts.of_type(vector.case, "FanOutMapper")
    )


def fan_out_writes(vector: Vector, ours: Answer) -> bool:
    """The downstream mapper of a fan-out is used in full: its period, its zone, its own refusals."""
    return any(spec.get("downstream_mapper") for spec in facts.of_type(vector.case, "FanOutMapper"))


def fan_out_zone(vector: Vector, ours: Answer) -> bool:
    return vector.op in ("partition_date", "resolve") and any(
        (spec["upstream_mapper"].get("timezone") or "UTC") != "UTC"
        for spec in facts.of_type(vector.case, "FanOutMapper")
    )


def _rollups(case: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """The grain of the upstream mapper, the grain of the members, and the window of each rollup over time."""
    return [
        (facts.grain(spec["upstream_mapper"]), facts.member(spec["window"]), spec["window"])
        for spec in facts.of_type(case, "RollupMapper")
        if spec["upstream_mapper"]["type"] in facts.OUTPUTS and spec["window"]["type"] in facts.PERIODS
    ]
