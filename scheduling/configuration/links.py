"""Writes what a Dag listens to and what it writes."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from core.models import Asset, Dag, Dependency, Outlet
from scheduling.algebra import specs
from scheduling.algebra.conditions import AssetRef, Leaf
from scheduling.algebra.timetables import PartitionedAssetTimetable, Timetable
from scheduling.authoring.terms import LISTENING, Terms
from scheduling.configuration.problems import Problem


@dataclass(slots=True)
class Links:
    """What one Dag listens to, with what is wrong about it. `wanted` by canonical leaf."""

    wanted: dict[str, Dependency] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, leaf: Leaf, link: Dependency) -> None:
        """Take one leaf of the condition; the second of two that are one asset stays without it."""
        if link.asset is None:
            sentence = f"nothing defines {_words(leaf)} yet: its events cannot arrive"
            self.problems.append(Problem("undefined-asset", "warning", sentence))
        elif link.asset_id in {other.asset_id for other in self.wanted.values()}:
            sentence = f"the schedule names asset {link.asset.name} twice, by name and by uri: name it once"
            self.problems.append(Problem("asset-twice", "error", sentence))
            link.asset = None
        self.wanted[_canonical(link)] = link

    def beside(self, dag: Dag) -> list[Asset | None]:
        """The assets of leaves that `dag` does not have; None for one that nothing defines."""
        there = {_canonical(link) for link in dag.dependencies.all()}
        return [link.asset for name, link in self.wanted.items() if name not in there]


def links_of(timetable: Timetable | None, assets: Mapping[str, Asset], at: datetime) -> Links:
    """The dependencies that the condition asks for, not written yet."""
    links = Links()
    for leaf in timetable.assets.leaves() if isinstance(timetable, LISTENING) else ():
        asset, mapper = _resolve(leaf, assets), None
        if isinstance(timetable, PartitionedAssetTimetable):
            names = {"name": asset.name, "uri": asset.uri} if asset else {}
            mapper = specs.dump(timetable.mapper_for(leaf, **names))
        links.add(leaf, Dependency(leaf=specs.dump(leaf), asset=asset, mapper=mapper, created_at=at))
    return links


def write_dependencies(dag: Dag, links: Links) -> bool:
    """Make the rows be `links`; whether they were not."""
    kept = {_canonical(link): link for link in dag.dependencies.select_for_update(no_key=True, of=("self",))}
    gone = [link.pk for name, link in kept.items() if name not in links.wanted]
    new = [link for name, link in links.wanted.items() if name not in kept]
    moved = list(_moved(kept, links))
    Dependency.objects.filter(pk__in=gone).delete()
    # First out of the way: two of them may exchange their assets, and a Dag has each asset but once.
    Dependency.objects.filter(pk__in=[link.pk for link in moved]).update(asset=None)
    Dependency.objects.bulk_update(moved, ["asset", "mapper"])
    for link in new:
        link.dag = dag
    Dependency.objects.bulk_create(new)
    return bool(gone or moved or new)


def write_outlets(dag: Dag, terms: Terms, assets: Mapping[str, Asset]) -> set[int]:
    """Make the outlet rows be those of the tasks. Returns the assets that it wrote, or that it writes now."""
    wanted = {(assets[outlet.name].pk, step.task_id) for step in terms.steps for outlet in step.task.outlets}
    kept = {(outlet.asset_id, outlet.task_id): outlet.pk for outlet in dag.outlets.all()}
    Outlet.objects.filter(pk__in=[pk for name, pk in kept.items() if name not in wanted]).delete()
    Outlet.objects.bulk_create(
        Outlet(dag=dag, asset_id=asset_id, task_id=task_id)
        for asset_id, task_id in sorted(wanted - kept.keys())
    )
    return {asset_id for asset_id, _ in wanted ^ kept.keys()}


def _moved(kept: Mapping[str, Dependency], links: Links) -> Iterator[Dependency]:
    for name, link in kept.items():
        to = links.wanted.get(name)
        if to and (link.asset_id, link.mapper) != (to.asset_id, to.mapper):
            link.asset, link.mapper = to.asset, to.mapper
            yield link


def _resolve(leaf: Leaf, assets: Mapping[str, Asset]) -> Asset | None:
    if leaf.name:
        return assets.get(leaf.name)
    found = [asset for asset in assets.values() if isinstance(leaf, AssetRef) and asset.uri == leaf.uri]
    return min(found, key=lambda asset: (not asset.is_active, asset.pk), default=None)


def _canonical(link: Dependency) -> str:
    return json.dumps(link.leaf, sort_keys=True)


def _words(leaf: Leaf) -> str:
    by_uri = isinstance(leaf, AssetRef) and leaf.uri
    return f"an asset with the uri {by_uri}" if by_uri else f"asset {leaf.name}"
