"""On what grounds Partita may differ: predicates over what was asked, what Airflow said and what we say."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from tests.conformance import cron_grounds, facts, world_grounds
from tests.conformance.vectors import Answer, Vector


def _refuses(ours: Answer, stage: str = "construct") -> bool:
    return bool(ours.get("error", {}).get("stage") == stage)


def _theirs_fails(vector: Vector) -> bool:
    return "error" in vector.expect


def lossy_format(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(
        not facts.reads_back(text, period) for text, period in facts.formats(vector.case)
    )


def reads_weeks(vector: Vector, ours: Answer) -> bool:
    """Forms that Airflow writes and cannot read: ISO weeks, and quarters named by month."""
    texts = [text for text, _ in facts.formats(vector.case)]
    named = any("%G-W%V" in text or "%z" in text for text in texts)
    monthly = any(
        spec.get("output_format") == "%Y-%m" for spec in facts.of_type(vector.case, "StartOfQuarterMapper")
    )
    gets_stuck = _theirs_fails(vector) or vector.op == "scenario"
    return gets_stuck and "error" not in ours and (named or monthly)


def sloppy_key(vector: Vector, ours: Answer) -> bool:
    pieces = facts.segments(vector.case.get("key"))
    texts = [text for text, _ in facts.formats(vector.case)] or [facts.INPUT]
    if facts.of_type(vector.case, "FanOutMapper"):
        texts += facts.OUTPUTS.values()
    spellings = [(piece, facts.spelled(text, piece)) for piece in pieces for text in [*texts, facts.INPUT]]
    sloppy = any(spelled is not None and spelled != piece for piece, spelled in spellings)
    sloppy = sloppy or facts.wrong_week(vector.case.get("key")) or facts.foreign_offset(vector.case)
    refused = _refuses(ours, "call") and not _theirs_fails(vector) and sloppy
    return refused or world_grounds.sloppy_key(vector, ours)


def inside_a_period(vector: Vector, ours: Answer) -> bool:
    """A downstream key that is read, but starts no period of its mapper."""
    return _refuses(ours, "call") and not _theirs_fails(vector) and facts.starts_nothing(vector.case)


def short_year(vector: Vector, ours: Answer) -> bool:
    """The standard library pads years to four digits on some machines only, and may not read its own keys."""
    early = any(wall.year < 1000 for wall, _ in facts.walls(vector.case, naive=False))
    return early and "error" not in ours


def skipped_time(vector: Vector, ours: Answer) -> bool:
    return any(facts.skipped(wall, zone) for wall, zone in facts.walls(vector.case))


def first_of_two(vector: Vector, ours: Answer) -> bool:
    told = vector.op in ("partition_date", "resolve", "decode", "encode") or any(
        "%z" in text for text, _ in facts.formats(vector.case)
    )
    return told and any(facts.repeated(wall, zone) for wall, zone in facts.walls(vector.case))


def real_members(vector: Vector, ours: Answer) -> bool:
    waits = facts.of_type(vector.case, "RollupMapper", "FanOutMapper")
    return bool(waits) and "error" not in ours and facts.clocks_change(vector.case)


def _rollups(case: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    """The grain of the upstream mapper, the grain of the members, and the window of each rollup over time."""
    return [
        (facts.grain(spec["upstream_mapper"]), facts.member(spec["window"]), spec["window"])
        for spec in facts.of_type(case, "RollupMapper")
        if spec["upstream_mapper"]["type"] in facts.OUTPUTS and spec["window"]["type"] in facts.PERIODS
    ]


def member_grain(vector: Vector, ours: Answer) -> bool:
    return any(upstream == member for upstream, member, _ in _rollups(vector.case))


def neither_grain(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(
        upstream not in (member, facts.PERIODS[window["type"]][0])
        for upstream, member, window in _rollups(vector.case)
    )


def collapsed(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(
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
    return _refuses(ours, "call") and any(
        spec["window"]["type"] == "SegmentWindow"
        and spec["upstream_mapper"].get("downstream_key") != vector.case.get("key")
        for spec in facts.of_type(vector.case, "RollupMapper")
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
    return _refuses(ours) and bool(chains) and (unread or _theirs_fails(vector))


def fan_out_types(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(
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


def unreachable(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(
        (spec.get("wait_policy") or {}).get("n", 0) > 0
        for spec in facts.of_type(vector.case, "RollupMapper")
        if isinstance((spec.get("wait_policy") or {}).get("n", 0), int)
    )


def odd_argument(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and any(_odd(spec) for spec in facts.definitions(vector.case))


def _odd(spec: dict[str, Any]) -> bool:
    kinds: dict[str, type] = {
        "n": int,
        "max_downstream_keys": int,
        "timezone": str,
        "segments": list,
        "allowed_keys": list,
        "run_offset": int,
    }
    return spec.get("delimiter") == "" or any(
        name in spec and type(spec[name]) is not kind for name, kind in kinds.items()
    )


def no_such_key(vector: Vector, ours: Answer) -> bool:
    """Something that cannot be a key: in a definition, or as the key itself."""
    listed = [
        each
        for spec in facts.definitions(vector.case)
        for name in ("segments", "allowed_keys")
        for each in (spec.get(name) if isinstance(spec.get(name), list) else ())
    ]
    fixed = [spec["downstream_key"] for spec in facts.of_type(vector.case, "FixedKeyMapper")]
    empty = any(spec.get("allowed_keys") == [] for spec in facts.definitions(vector.case))
    asked = [vector.case["key"]] if vector.op in ("event_key", "validate_key") else []
    return empty or any(not _keylike(each) for each in [*listed, *fixed, *asked])


def _keylike(key: object) -> bool:
    return isinstance(key, str) and 0 < len(key) <= 250 and key == key.strip() and key.isprintable()


def calendar_ends(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours, "call") and any(
        wall.year in (1, 9999) for wall, _ in facts.walls(vector.case, naive=False)
    )


def other_error(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours, "call") and vector.expect.get("error", {}).get("stage") == "call"


def uri_mapper(vector: Vector, ours: Answer) -> bool:
    configured = [entry for spec in facts.definitions(vector.case) for entry in spec.get("mapper_config", ())]
    return vector.op == "lookup" and any("ref_uri" in entry["asset"] for entry in configured)


def offset_in_default(vector: Vector, ours: Answer) -> bool:
    if "runs" in ours:
        return cron_grounds.offset_written(vector, ours)
    return any(
        not spec.get("key_format") and facts.changes_clocks(facts.zone(spec))
        for spec in facts.of_type(vector.case, "CronPartitionTimetable")
    )


def cron_refused(vector: Vector, ours: Answer) -> bool:
    return _refuses(ours) and getattr(ours["error"]["raised"], "path", "") == "cron"
