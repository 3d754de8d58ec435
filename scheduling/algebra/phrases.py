"""Sets of keys in words: short enough for one line, exact enough to act on."""

from collections.abc import Sequence
from itertools import accumulate

MOST_PIECES = 12
"""How many keys or ranges a phrase names before it counts the rest."""

MOST_CHARACTERS = 300
"""How long they may be together; one is named in any case."""


def key_list(missing: Sequence[str], among: Sequence[str], noun: str = "keys") -> str:
    """`hours 09, 11–13, 22`: the keys of `missing`, written without what all of `among` share.

    :param missing: keys to name, each one in `among`.
    :param among: all keys they belong to, in order; runs of three or more neighbours become a range.
    :param noun: what the keys are, in the plural; one key is said in the singular.
    """
    if not missing:
        return ""
    shorten = _shortener(among)
    wanted = set(missing)
    runs: list[list[str]] = [[]]
    for key in among:
        if key in wanted:
            runs[-1].append(shorten(key))
        elif runs[-1]:
            runs.append([])
    pieces = [piece for run in runs if run for piece in _pieces(run)]
    word = noun.removesuffix("s") if len(missing) == 1 else noun
    return f"{word} {listed(pieces)}"


def listed(pieces: Sequence[str]) -> str:
    """`a, b and 7 more`: as many pieces as fit in a phrase."""
    ends = accumulate(map(len, pieces[:MOST_PIECES]))
    named = max(1, sum(end <= MOST_CHARACTERS for end in ends))
    rest = len(pieces) - named
    return ", ".join(pieces[:named]) + (f" and {rest} more" if rest > 0 else "")


def first_of(words: Sequence[str], most: int) -> str:
    """`a, b, c and 4 more`: the first of `words` by name, and how many others there are."""
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def some(count: int, noun: str) -> str:
    """`1 segment`, `2 segments`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ended(sentence: str) -> str:
    """`sentence` with a full stop, unless it has an end of its own: `did you mean orders?`."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def are(count: int) -> str:
    """The verb for so many."""
    return "is" if count == 1 else "are"


def _pieces(run: list[str]) -> list[str]:
    return run if len(run) < 3 else [f"{run[0]}–{run[-1]}"]


def _shortener(keys: Sequence[str]) -> "type[str] | _Cut":
    """What to leave out of each key: the head and tail they share, cut back to whole words."""
    if len(keys) < 2:
        return str
    head = _common_head(keys)
    tail = _common_head([key[len(head) :][::-1] for key in keys])[::-1]
    return _Cut(len(head), len(tail))


class _Cut:
    def __init__(self, head: int, tail: int) -> None:
        self.head, self.tail = head, tail

    def __call__(self, key: str) -> str:
        return key[self.head : len(key) - self.tail] or key


def _common_head(keys: Sequence[str]) -> str:
    low, high = min(keys), max(keys)
    size = next(
        (at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high))
    )
    while size and not _ends_a_word(low[:size]):
        size -= 1
    return low[:size]


def _ends_a_word(text: str) -> bool:
    """Words end at anything but letters and digits, and at the T between a date and a time."""
    return not text[-1].isalnum() or (text[-1] == "T" and text[-2:-1].isdigit())
