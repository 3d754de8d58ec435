"""On what grounds Partita may differ: predicates over what was asked, what Airflow said and what we say."""

from __future__ import annotations

from typing import Any

from tests.conformance import clocks, cron_grounds, facts, world_grounds
from tests.conformance.vectors import Answer, Vector, refuses


def lossy_format(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(
        not facts.reads_back(text, period) for text, period in facts.formats(vector.case)
    )


def reads_weeks(vector: Vector, ours: Answer) -> bool:
    """Forms that Airflow writes and cannot read: ISO weeks, and quarters named by month."""
    texts = [text for text, _ in facts.formats(vector.case)]
    named = any("%G-W%V" in text or "%z" in text for text in texts)
    monthly = any(
        spec.get("output_format") == "%Y-%m" for spec in facts.of_type(vector.case, "StartOfQuarterMapper")
    )
    gets_stuck = vector.fails or vector.op == "scenario"
    return gets_stuck and "error" not in ours and (named or monthly)


def sloppy_key(vector: Vector, ours: Answer) -> bool:
    pieces = facts.segments(vector.case.get("key"))
    texts = [text for text, _ in facts.formats(vector.case)] or [facts.INPUT]
    if facts.of_type(vector.case, "FanOutMapper"):
        texts += facts.OUTPUTS.values()
    spellings = [(piece, facts.spelled(text, piece)) for piece in pieces for text in [*texts, facts.INPUT]]
    sloppy = any(spelled is not None and spelled != piece for piece, spelled in spellings)
    sloppy = sloppy or facts.wrong_week(vector.case.get("key")) or clocks.foreign_offset(vector.case)
    refused = refuses(ours, "call") and not vector.fails and sloppy
    return refused or world_grounds.sloppy_key(vector, ours)


def inside_a_period(vector: Vector, ours: Answer) -> bool:
    """A downstream key that is read, but starts no period of its mapper."""
    return refuses(ours, "call") and not vector.fails and facts.starts_nothing(vector.case)


def short_year(vector: Vector, ours: Answer) -> bool:
    """The standard library pads years to four digits on some machines only, and may not read its own keys."""
    early = any(wall.year < 1000 for wall, _ in clocks.walls(vector.case, naive=False))
    return early and "error" not in ours


def skipped_time(vector: Vector, ours: Answer) -> bool:
    return any(clocks.skipped(wall, zone) for wall, zone in clocks.walls(vector.case))


def first_of_two(vector: Vector, ours: Answer) -> bool:
    told = vector.op in ("partition_date", "resolve", "decode", "encode") or any(
        "%z" in text for text, _ in facts.formats(vector.case)
    )
    return told and any(clocks.repeated(wall, zone) for wall, zone in clocks.walls(vector.case))


def real_members(vector: Vector, ours: Answer) -> bool:
    waits = facts.of_type(vector.case, "RollupMapper", "FanOutMapper")
    return bool(waits) and "error" not in ours and clocks.change_near(vector.case)


def odd_argument(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and any(_odd(spec) for spec in facts.definitions(vector.case))


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
    return refuses(ours, "call") and any(
        wall.year in (1, 9999) for wall, _ in clocks.walls(vector.case, naive=False)
    )


def other_error(vector: Vector, ours: Answer) -> bool:
    return refuses(ours, "call") and vector.expect.get("error", {}).get("stage") == "call"


def uri_mapper(vector: Vector, ours: Answer) -> bool:
    configured = [entry for spec in facts.definitions(vector.case) for entry in spec.get("mapper_config", ())]
    return vector.op == "lookup" and any("ref_uri" in entry["asset"] for entry in configured)


def offset_in_default(vector: Vector, ours: Answer) -> bool:
    if "runs" in ours:
        return cron_grounds.offset_written(vector, ours)
    return any(
        not spec.get("key_format") and clocks.ever_change(clocks.zone(spec))
        for spec in facts.of_type(vector.case, "CronPartitionTimetable")
    )


def cron_refused(vector: Vector, ours: Answer) -> bool:
    return refuses(ours) and getattr(ours["error"]["raised"], "path", "") == "cron"
