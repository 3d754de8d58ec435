"""Files of recorded answers: what was asked, and what the other system said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Answer = dict[str, Any]

# Airflow's quarter and year windows are made of months; ours of days unless they say otherwise.
_MONTHLY = {"QuarterWindow", "YearWindow"}


@dataclass(frozen=True)
class Vector:
    """One recorded question and answer; `quirks` are the codes of what the recorder finds doubtful in it."""

    id: str
    kind: str
    case: dict[str, Any]
    expect: Answer
    quirks: tuple[str, ...] = ()

    @property
    def op(self) -> str:
        return str(self.case["op"])

    @property
    def fails(self) -> bool:
        """Whether the other system answers with an error."""
        return "error" in self.expect


def read(path: Path) -> Iterator[Vector]:
    """The vectors of a file, in the order of the file: a list of them, or an object with a list `vectors`."""
    content = json.loads(path.read_text(encoding="utf-8"))
    for entry in content["vectors"] if isinstance(content, dict) else content:
        yield Vector(
            id=entry["id"],
            kind=entry.get("class", ""),
            case=_as_airflow_means(entry["case"]),
            expect=entry["expect"],
            quirks=tuple(entry.get("quirks", ())),
        )


def refuses(answer: Answer, stage: str = "construct") -> bool:
    return bool(answer.get("error", {}).get("stage") == stage)


def _as_airflow_means(part: Any) -> Any:
    """The same definition with what Airflow takes for granted written out."""
    if isinstance(part, list):
        return [_as_airflow_means(each) for each in part]
    if not isinstance(part, dict):
        return part
    spec = {name: _as_airflow_means(each) for name, each in part.items()}
    if spec.get("type") in _MONTHLY:
        spec.setdefault("members", "month")
    return spec
