"""Whether the keys of a Dag's assets can meet and what it waits for can arrive, as the definitions tell."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from difflib import get_close_matches
from functools import cached_property

from django.conf import settings

from core.models import Asset, AssetEvent, Dag, Dependency, Outlet, Partition
from scheduling import listening
from scheduling.algebra import agreement, specs
from scheduling.algebra.agreement import Feed, Finding
from scheduling.algebra.errors import PartitionError
from scheduling.algebra.shapes import ANY, Shape, shape_of
from scheduling.algebra.time_partitions import TimePartitions
from scheduling.algebra.timetables import PartitionedAssetTimetable, Timetable
from scheduling.configuration import circles

SEEN = 5
"""Keys looked at of an asset about whose keys no definition tells."""

ALIKE = 0.9
"""How much two names are alike of which one is taken for the other misspelt, such as `hourly_slaes`."""

DIGITS = re.compile(r"\d+")
"""Names that differ in nothing else are those of several alike, none misspelt."""

Span = tuple[datetime, datetime | None]
"""When the first key starts and before when the last one does."""


class World:
    """Every active Dag with what it listens to and writes.

    Costs four queries, and one more for each asset asked about whose keys no definition describes.
    """

    def __init__(self) -> None:
        self._dags = {dag.pk: dag for dag in Dag.objects.active()}
        self._links: dict[int, list[Dependency]] = defaultdict(list)
        for link in Dependency.objects.filter(dag__in=self._dags, asset__isnull=False).order_by("pk"):
            self._links[link.dag_id].append(link)
        self._producers: dict[int, list[int]] = defaultdict(list)
        for outlet in Outlet.objects.filter(dag__in=self._dags).order_by("pk"):
            self._producers[outlet.asset_id].append(outlet.dag_id)
        self._assets = Asset.objects.in_bulk()
        self._shapes: dict[int, Shape] = {}
        self._meant: dict[int, str] = {}

    def suppose(self, dag: Dag, links: Iterable[Dependency]) -> None:
        """Take `dag`, not saved, for what it would be if it listened by `links`."""
        self._dags[dag.pk] = dag
        self._links[dag.pk] = [link for link in links if link.asset_id is not None]

    def findings(self, dag: Dag) -> tuple[Finding, ...]:
        """What can never work in `dag`, what will not always, and what is not known."""
        timetable = _timetable(dag)
        if not isinstance(timetable, PartitionedAssetTimetable):
            return ()
        links = {specs.load(link.leaf, "condition"): link for link in self._links[dag.pk]}
        feeds = {
            leaf: self._feed(links[leaf]) if leaf in links else Feed(timetable.mapper_for(leaf))
            for leaf in timetable.assets.leaves()
        }
        return agreement.agree(timetable.assets, feeds)

    def unheard(self, dag: Dag) -> Iterator[tuple[str, str]]:
        """What `dag` listens to that nobody writes or has reported, if named nearly as what a Dag writes.

        Costs a query for each asset that has such a neighbour, once.
        """
        for asset_id in dict.fromkeys(link.asset_id for link in self._links[dag.pk] if link.asset_id):
            if asset_id not in self._meant:
                self._meant[asset_id] = self._find_meant(self._assets[asset_id])
            if meant := self._meant[asset_id]:
                yield self._assets[asset_id].name, meant

    def span(self, dag: Dag) -> Span | None:
        """From when to when the keys are that `dag` listens to; none where no definition says so."""
        spans = [self._span(link.asset_id) for link in self._links[dag.pk] if link.asset_id is not None]
        known = [each for each in spans if each is not None]
        if not known or len(known) < len(spans):
            return None
        ends = [end for _, end in known if end is not None]
        return min(start for start, _ in known), max(ends) if len(ends) == len(known) else None

    def circle(self, dag: Dag) -> list[str]:
        """Names on the shortest way on which runs of `dag` start it again: Dag, asset, Dag …, or none."""
        return [
            self._assets[pk].name if place % 2 else self._dags[pk].dag_id
            for place, pk in enumerate(self._circles.get(dag.pk, ()))
        ]

    def followers(self, dag: Dag) -> list[Dag]:
        """The other Dags that listen to what `dag` writes, or to what they write in turn."""
        found, looked_at = {dag.pk}, [dag.pk]
        while looked_at:
            writer = looked_at.pop()
            written = {asset_id for asset_id, by in self._producers.items() if writer in by}
            for pk, links in self._links.items():
                if pk not in found and any(link.asset_id in written for link in links):
                    found.add(pk)
                    looked_at.append(pk)
        return [self._dags[pk] for pk in sorted(found - {dag.pk}) if pk in self._dags]

    def shape(self, asset_id: int) -> Shape:
        """What the keys of an asset look like: by its own definition, or by its producers' timetables."""
        if asset_id not in self._shapes:
            self._shapes[asset_id] = ANY  # what an asset that feeds itself is taken for
            self._shapes[asset_id] = self._find_shape(self._assets[asset_id])
        return self._shapes[asset_id]

    @cached_property
    def _circles(self) -> dict[int, list[int]]:
        timetables = {pk: _timetable(dag) for pk, dag in self._dags.items()}
        steps: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for pk, links in self._links.items():
            for asset_id in {link.asset_id for link in links if link.asset_id}:
                for producer in self._producers.get(asset_id, ()):
                    if circles.starts(timetables[producer], timetables[pk]):
                        steps[producer].append((asset_id, pk))
        return circles.shortest(steps)

    @cached_property
    def _written(self) -> dict[str, str]:
        """What Dags write, by name in order, and each name without its digits."""
        names = sorted(self._assets[pk].name for pk, by in self._producers.items() if by)
        return {name: DIGITS.sub("", name) for name in names}

    def _find_meant(self, asset: Asset) -> str:
        if asset.name in self._written or asset.partitions:
            return ""
        bare = DIGITS.sub("", asset.name)
        others = [name for name, without in self._written.items() if without != bare]
        meant = get_close_matches(asset.name, others, n=1, cutoff=ALIKE)
        return meant[0] if meant and not AssetEvent.objects.filter(asset=asset).exists() else ""

    def _feed(self, link: Dependency) -> Feed:
        asset_id = link.asset_id or 0
        shape = self.shape(asset_id)
        seen = Partition.objects.filter(asset_id=asset_id, data_at__isnull=False).order_by("-pk")
        observed = tuple(seen.values_list("key", flat=True)[:SEEN]) if shape is ANY else ()
        most = settings.PARTITION_MAPPER_MAX_DOWNSTREAM_KEYS
        return Feed(specs.load(link.mapper, "mapper"), shape, observed, most)

    def _find_shape(self, asset: Asset) -> Shape:
        if asset.partitions:
            return shape_of(specs.load(asset.partitions, "partitions"))
        made = {self._made_by(self._dags[pk]) for pk in self._producers[asset.pk]}
        return made.pop() if len(made) == 1 else ANY

    def writing(self, dag: Dag) -> tuple[Timetable | None, Shape]:
        """The timetable of `dag`, and what the keys of its runs look like."""
        return _timetable(dag), self._made_by(dag)

    def _span(self, asset_id: int) -> Span | None:
        try:
            definition = listening.partitions_of(self._assets[asset_id])
        except PartitionError:  # told where its own problems are
            return None
        parts = (definition.dimensions.values() or [definition]) if definition else []
        return next(((part.start, part.end) for part in parts if isinstance(part, TimePartitions)), None)

    def _made_by(self, dag: Dag) -> Shape:
        timetable = _timetable(dag)
        if not isinstance(timetable, PartitionedAssetTimetable):
            return shape_of(timetable)
        shapes = (
            agreement.produced_by(specs.load(link.mapper, "mapper"), self.shape(link.asset_id))
            for link in self._links[dag.pk]
            if link.asset_id is not None
        )
        return next((shape for shape in shapes if shape is not ANY), ANY)


def _timetable(dag: Dag) -> Timetable | None:
    try:
        return specs.load(dag.schedule, "timetable") if dag.schedule else None
    except PartitionError:
        return None
