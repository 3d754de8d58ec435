"""What a Dag waits for, as Airflow writes it: `{"all": [{"asset": {…}}, …]}`."""

from typing import Any

from core.models import Asset, Dag
from scheduling import listening
from scheduling.algebra.conditions import All, AssetLeaf, Expression, Leaf
from scheduling.algebra.conditions import Any as AnyOf
from scheduling.algebra.errors import PartitionError


def asset_expression(dag: Dag) -> dict[str, Any] | None:
    """The assets that `dag` waits for; None if it waits for none, or cannot be read."""
    try:
        assets = getattr(listening.timetable_of(dag), "assets", None)
    except PartitionError:
        return None
    return _written(assets, _assets(assets)) if isinstance(assets, Expression) else None


def _written(expression: Expression, assets: dict[str, Asset]) -> dict[str, Any]:
    if isinstance(expression, All):
        return {"all": [_written(part, assets) for part in expression.parts]}
    if isinstance(expression, AnyOf):
        return {"any": [_written(part, assets) for part in expression.parts]}
    if isinstance(expression, AssetLeaf):
        return {"asset": _asset(expression, assets)}
    name, uri = getattr(expression, "name", ""), getattr(expression, "uri", "")
    return {"asset_ref": {"name": name} if name else {"uri": uri}}


def _asset(leaf: AssetLeaf, assets: dict[str, Asset]) -> dict[str, Any]:
    asset = assets.get(leaf.name)
    if asset is None:
        return {"uri": "", "name": leaf.name, "group": "", "id": None}
    return {"uri": asset.uri, "name": asset.name, "group": asset.group, "id": asset.pk}


def _assets(expression: Any) -> dict[str, Asset]:
    leaves: list[Leaf] = list(expression.leaves()) if isinstance(expression, Expression) else []
    names = [leaf.name for leaf in leaves if isinstance(leaf, AssetLeaf)]
    return {asset.name: asset for asset in Asset.objects.filter(name__in=names)}
