"""`python -m tests.conformance.table` writes `docs/differences.md` from the rules of the conformance run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.conformance.dagster import DIFFERENCES
from tests.conformance.report import LEFT_OUT
from tests.conformance.rules import RULES

PAGE = Path(__file__).parents[2] / "docs" / "differences.md"


def text() -> str:
    """The page, in Markdown."""
    airflow = [(rule.name, rule.airflow, rule.partita, rule.why) for rule in RULES]
    dagster = [(each.name, each.dagster, each.partita, each.why) for each in DIFFERENCES]
    return "\n".join(
        [
            "# Where Partita differs, and why",
            "",
            "This page is written by `python -m tests.conformance.table` from the rules that",
            "`python -m tests.conformance FILE...` judges recorded answers by; a test keeps the two equal.",
            "Whatever was recorded and is not listed here is answered as Apache Airflow 3.3.2 does.",
            "",
            "## Apache Airflow 3.3.2",
            "",
            *_table(("what", "Airflow", "Partita", "why"), airflow),
            "",
            "Not compared, because it is internal to Airflow or tested elsewhere:",
            "",
            *[f"- `{op}`: {reason}." for op, reason in LEFT_OUT.items()],
            "",
            "## Dagster 1.13",
            "",
            *_table(("what", "Dagster", "Partita", "why"), dagster),
            "",
        ]
    )


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return [_row(head), _row("---" for _ in head), *(_row(row) for row in rows)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
