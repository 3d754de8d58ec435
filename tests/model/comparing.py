"""What engine and model say, so that it can be told apart."""

from tests.model.plans import Backfill
from tests.model.records import Run


def apart(engine, model):
    """What engine and model say where they differ, by name."""
    found = {}
    for name in engine.keys() | model.keys():
        ours, theirs = engine.get(name), model.get(name)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            if inner := apart(ours, theirs):
                found[name] = inner
        elif ours != theirs:
            found[name] = {"engine": ours, "model": theirs}
    return found


def told(run: Run):
    consumed = frozenset(event.number for event in run.consumed)
    ends = (run.run_type, run.state, run.attempt, run.failures)
    return (run.consumer.name, run.keys, run.failed_keys, *ends, consumed)


def shown(backfill: Backfill):
    return {
        "paused": backfill.is_paused,
        "cancelled": backfill.is_cancelled,
        "completed": backfill.is_completed,
        "items": {
            target.name: [(item.key, item.state) for item in target.items] for target in backfill.targets
        },
    }
