"""Backfills of one key of one consumer (section 8), started and at once advanced."""

from tests.model import judgement
from tests.model.records import Consumer, Held, Run
from tests.model.reference import Model


def start(model: Model, consumer: Consumer, key: str) -> Run | None:
    """A run of `key`, in which its held run ends; none if it is in progress or lacks what it needs."""
    if not judgement.takes(consumer, key):
        return None
    under_way = [run for run in model.runs if run.state in ("queued", "running")]
    if any((run.consumer.name, run.key) == (consumer.name, key) for run in under_way):
        return None
    if not judgement.is_complete(_as_if_opened(model, consumer, key), model):
        return None
    held = next((each for each in model.open(consumer.name) if each.key == key), None)
    return model.fire_for_backfill(held or model.open_round(consumer, key))


def _as_if_opened(model: Model, consumer: Consumer, key: str) -> Held:
    """A held run that has counted every upstream key that has data and leads to `key`."""
    held = Held(consumer, key, 1, model.now, model.now)
    for asset, mapper in consumer.mappers.items():
        for upstream in model.known(asset):
            if judgement.feeds(mapper, upstream, key):
                held.counted[asset, upstream] = model.partitions[asset][upstream].data
    return held
