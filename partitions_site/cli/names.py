"""The commands of `partita`, by the modules of this package that hold them; read before Django is there."""

CALLED = ["partita"]
"""What somebody typed to get here; `manage.py` knows of `./partita` in a checkout."""

COMMANDS = {
    "assets": "what there is, and how complete it is",
    "partitions": "the state of each key of an asset",
    "held": "what waits, and for what",
    "dags": "what runs when, and how it went",
    "runs": "what ran, and running it again",
    "backfill": "many partitions on request: plan, start, look at and steer",
    "sensors": "what looks at the world outside, and what it found",
    "explain": "why has this partition not run?",
    "emit": "say that partitions of an asset are there",
    "trigger": "make a run by hand",
    "keys": "the keys of dynamic partitions",
    "wipe": "take the data of partitions back",
    "pools": "slots that the runs of many Dags share",
    "tokens": "what programs come in with",
    "grants": "who has which role for which group of assets",
    "check": "what is wrong with definitions",
    "completion": "a script that completes these commands in bash or zsh",
}

OWN = ("up", "test", "check", "lock")
"""What `./partita` does itself, or hands on with variables set."""

OTHERS = {"check"}
"""Commands of `manage.py` that are called like one of ours and are not: ours is `manage.py partita check`."""


def called() -> str:
    """The name under which people find these commands again."""
    return CALLED[0]


def rewritten(arguments: list[str]) -> list[str]:
    """The arguments of `manage.py`, so that `manage.py held` is `manage.py partita held`."""
    first = arguments[1:2]
    if first and first[0] in COMMANDS and first[0] not in OTHERS:
        return [arguments[0], "partita", *arguments[1:]]
    return arguments
