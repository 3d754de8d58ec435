"""Judging a file of recorded answers: same, different on purpose, left out, or wrong."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from tests.conformance import world_grounds
from tests.conformance.answers import OPS, answer, not_played
from tests.conformance.rules import rule_for
from tests.conformance.vectors import Answer, Vector

LEFT_OUT = {
    "carry": "partition dates come from keys here, they are not carried along",
    "fingerprint": "an internal of Airflow: held runs are re-filed here, not wiped",
    "run_id": "run ids are ours to choose; theirs reject keys",
}
"""Operations that are not asked, each with the reason."""

_SETS = {"to_upstream", "rollup_status", "mapper_info"}


@dataclass(frozen=True)
class Judgement:
    """What became of one vector: `same`, `differs`, `left out` or `wrong`; `reason` names the rule."""

    vector: Vector
    verdict: str
    reason: str = ""
    ours: Answer | None = None


def judge(vectors: Iterable[Vector]) -> Iterator[Judgement]:
    for vector in vectors:
        left_out = _left_out(vector)
        if left_out:
            yield Judgement(vector, "left out", left_out)
            continue
        ours = answer(vector.case)
        if same(vector, ours):
            yield Judgement(vector, "same")
            continue
        rule = rule_for(vector, ours)
        yield Judgement(vector, "differs" if rule else "wrong", rule.name if rule else "", ours)


def same(vector: Vector, ours: Answer) -> bool:
    """Whether two answers say the same. Of errors the stage and the base class count, not the text."""
    theirs = vector.expect
    if vector.op == "scenario":
        return world_grounds.alike(theirs, ours)
    if "error" in theirs or "error" in ours:
        return "error" in theirs and "error" in ours and _same_error(theirs["error"], ours["error"])
    return all(_plain(vector, theirs.get(name)) == _plain(vector, value) for name, value in ours.items())


def summary(judgements: Iterable[Judgement]) -> list[str]:
    """Lines of a report: a count for each class and operation, each rule used, and every wrong one."""
    judged = list(judgements)
    counts = Counter((each.vector.kind, each.vector.op, each.verdict) for each in judged)
    lines = [f"{'class':<28}{'op':<16}{'same':>7}{'differs':>9}{'wrong':>7}{'left out':>10}"]
    for kind, op in sorted({(kind, op) for kind, op, _ in counts}):
        same_, differs, wrong, left = (counts[kind, op, v] for v in ("same", "differs", "wrong", "left out"))
        lines.append(f"{kind:<28}{op:<16}{same_:>7}{differs:>9}{wrong:>7}{left:>10}")
    total = Counter(each.verdict for each in judged)
    lines.append(
        f"{'all':<44}{total['same']:>7}{total['differs']:>9}{total['wrong']:>7}{total['left out']:>10}"
    )
    return [*lines, *_listed(judged, "differs", "differs on purpose, by rule"), *_wrong(judged)]


def _listed(judged: list[Judgement], verdict: str, title: str) -> list[str]:
    by_reason: dict[str, list[str]] = {}
    for each in judged:
        if each.verdict == verdict:
            by_reason.setdefault(each.reason, []).append(each.vector.id)
    lines = ["", f"{title}:"] if by_reason else []
    for reason, ids in sorted(by_reason.items(), key=lambda entry: -len(entry[1])):
        lines.append(f"  {reason} ({len(ids)}): {' '.join(ids)}")
    return lines


def _wrong(judged: list[Judgement]) -> list[str]:
    wrong = [each for each in judged if each.verdict == "wrong"]
    lines = ["", "wrong:"] if wrong else []
    for each in wrong:
        lines.append(f"  {each.vector.id}: {each.vector.case}")
        lines.append(f"    expected {each.vector.expect}")
        lines.append(f"    answered {each.ours}")
    return lines


def _left_out(vector: Vector) -> str:
    if vector.op in LEFT_OUT:
        return LEFT_OUT[vector.op]
    if vector.op not in OPS:
        return "an operation that does not exist here"
    if _mentions_alias(vector.case):
        return "asset aliases do not exist here"
    return not_played(vector.case) if vector.op == "scenario" else ""


def _mentions_alias(part: Any) -> bool:
    if isinstance(part, dict):
        return "alias" in part or any(_mentions_alias(each) for each in part.values())
    return isinstance(part, list) and any(_mentions_alias(each) for each in part)


def _same_error(theirs: dict[str, Any], ours: dict[str, Any]) -> bool:
    base = getattr(builtins, theirs["base"], Exception)
    return bool(theirs["stage"] == ours["stage"]) and isinstance(ours["raised"], base)


def _plain(vector: Vector, value: Any) -> Any:
    """Sets of keys are compared as sets: a fan-out to segments has no order there."""
    segments = any(spec.get("type") == "SegmentWindow" for spec in _windows(vector.case))
    if isinstance(value, list) and (vector.op in _SETS or (vector.op == "to_downstream" and segments)):
        return sorted(value, key=str)
    return value


def _windows(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        if isinstance(part.get("window"), dict):
            yield part["window"]
        for each in part.values():
            yield from _windows(each)
    elif isinstance(part, list):
        for each in part:
            yield from _windows(each)
