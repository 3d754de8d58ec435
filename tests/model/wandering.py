"""Histories by number: each is another, whole, and the same whenever it is asked for.

Hypothesis varies what it has tried before, which is how it finds the shortest history that shows a fault. As
a search among many it comes to a few, time and again, and breaks off what gets long.
"""

import os
from random import Random
from typing import Any

from tests.chance import examples
from tests.model.history import History


def numbers(setting: str, count: int) -> range:
    """Of as many as the environment says by `setting`, or else of `count`, from `PARTITA_MODEL_FIRST` on."""
    first = int(os.environ.get("PARTITA_MODEL_FIRST", "0"))
    return range(first, first + int(os.environ.get(setting, examples(count))))


def wander(number: int, *, steps: int, kind: type[History] = History) -> History:
    """Live through the history of that number."""
    random, chosen = Random(number), []

    def choose(options: Any) -> Any:
        chosen.append(random.choice(list(options)))
        return chosen[-1]

    history = kind()
    try:
        history.define(choose)
        for _ in range(steps):
            history.step(choose)
            history.they_agree()
    except BaseException as error:
        error.add_note("\n".join([f"history {number}:", *(repr(each)[:200] for each in chosen)]))
        raise
    finally:
        history.teardown()
    return history
