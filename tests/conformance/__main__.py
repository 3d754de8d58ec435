"""`python -m tests.conformance FILE...`: answer recorded questions and say where the answers differ.

Exits 1 if any answer is wrong: different, and not by one of the rules.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.conformance.report import judge, summary
from tests.conformance.vectors import read


def main(arguments: list[str]) -> int:
    if not arguments:
        print(__doc__)
        return 2
    wrong = False
    for argument in arguments:
        judged = list(judge(read(Path(argument))))
        print(argument, *summary(judged), sep="\n")
        wrong = wrong or any(each.verdict == "wrong" for each in judged)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
