"""What could run if other upstream keys were there than are."""

from collections.abc import Collection, Iterator

from scheduling.algebra.errors import PartitionError
from scheduling.algebra.mappers import Mapper
from tests.model import judgement
from tests.model.filing import Filing
from tests.model.records import Consumer, Counted, Event, Held


class AsIf:
    """The model as it would be with some upstream keys more, and without others; nothing has fired in it."""

    def __init__(
        self, model: Filing, *, coming: Collection[Counted] = (), gone: Collection[Counted] = ()
    ) -> None:
        self._model, self._coming, self._gone = model, coming, gone
        self.now = model.now

    def known(self, asset: str) -> tuple[str, ...]:
        more = [key for other, key in self._coming if other == asset]
        every = dict.fromkeys((*self._model.known(asset), *more))
        return tuple(key for key in every if (asset, key) not in self._gone)

    def is_present(self, asset: str) -> bool:
        return self._model.is_present(asset)

    def was_consumed(self, event: Event, name: tuple[str, str]) -> bool:
        return False

    def is_complete(self, consumer: Consumer, key: str) -> bool:
        """Whether a held run of `key` could fire that had counted every key that is there and leads to it."""
        return judgement.is_complete(self._held(consumer, key), self)

    def lacks(self, consumer: Consumer, key: str) -> Iterator[tuple[str, Collection[str]]]:
        """(asset, keys): each asset of which that held run would not have enough, and what it has not."""
        held = self._held(consumer, key)
        for asset in judgement.lacking(held, self):
            mapper = consumer.mappers[asset]
            counted = {mapper.counts_as(other) for where, other in held.counted if where == asset}
            yield asset, [each for each in needs(mapper, key) or () if mapper.counts_as(each) not in counted]

    def _held(self, consumer: Consumer, key: str) -> Held:
        """Where a mapper lists keys, those are looked for, as when one is opened; else what leads to it."""
        held = Held(consumer, key, 1, self.now, self.now)
        for asset, mapper in consumer.mappers.items():
            known = self.known(asset)
            listed = known if needs(mapper, key) is None else judgement.enumerable(mapper, key, known)
            for upstream in known:
                if upstream in listed and judgement.feeds(mapper, upstream, key):
                    held.counted[asset, upstream] = Event(0, asset, upstream, self.now)
        return held


def mapped(mapper: Mapper, key: str) -> tuple[str, ...]:
    try:
        return mapper.to_downstream(key)
    except PartitionError:
        return ()


def needs(mapper: Mapper, key: str) -> Collection[str] | None:
    """The upstream keys that lead to `key`; none where they cannot be listed."""
    if mapper.needs_known:
        return None
    try:
        return mapper.upstream_keys(key)
    except PartitionError:
        return ()
