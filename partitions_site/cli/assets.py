"""`partita assets`: what there is, and how complete it is."""

from argparse import ArgumentParser, Namespace
from collections.abc import Sequence

from core.models import Asset, Dependency, Outlet
from partitions_site.cli.parsing import add_limit, find_asset, now
from partitions_site.cli.replies import Reply, Row, none_of, sheet, shown, table
from scheduling import board

COLUMNS = {
    "name": "ASSET",
    "partitions": "PARTITIONS",
    "newest": "NEWEST",
    "newest_at": "SINCE",
    "group": "GROUP",
}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="ASSET", help="all about this one")
    parser.add_argument("--match", default="", metavar="TEXT", help="only those with this in their name")
    parser.add_argument("--all", action="store_true", help="those that nothing defines any more as well")
    add_limit(parser)
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    is_told_to_list = given.name == "list" and not Asset.objects.filter(name="list").exists()
    return _one(find_asset(given.name)) if given.name and not is_told_to_list else _list(given)


def _list(given: Namespace) -> Reply:
    rows = Asset.objects.filter(name__icontains=given.match)
    found = list((rows if given.all else rows.filter(is_active=True)).order_by("name")[: given.limit])
    return table(_rows(found), COLUMNS, none_of("assets", given.match))


def _one(asset: Asset) -> Reply:
    [complete] = _rows([asset])
    listening = Dependency.objects.filter(asset=asset).order_by("dag__dag_id")
    writing = Outlet.objects.filter(asset=asset).order_by("dag__dag_id")
    row = {
        **complete,
        "written_by": list(dict.fromkeys(writing.values_list("dag__dag_id", flat=True))),
        "listened_to_by": list(listening.values_list("dag__dag_id", flat=True)),
    }
    return sheet(row)


def _counts(asset: Asset, cells: board.Cells) -> dict[str, int]:
    """How many partitions look how, and keys that the definition of the asset does not have."""
    counts = {look.word: count for look, count in cells.tally.parts}
    others = len(cells.unexpected) if asset.partitions else 0
    return counts | ({"unexpected": others} if others else {})


def _rows(assets: Sequence[Asset]) -> list[Row]:
    """How complete each asset is, its newest partition with data, and when that came."""
    cells = {pk: read.cells for pk, read in board.read(assets, now=now()).items()}
    newest = board.newest_of(cells)
    return [
        {
            "id": asset.pk,
            "name": asset.name,
            "uri": asset.uri,
            "group": asset.group,
            "is_active": asset.is_active,
            "partitions": _counts(asset, cells[asset.pk]),
            "newest": newest[asset.pk].key or None,
            "newest_at": shown(newest[asset.pk].data_at),
        }
        for asset in assets
    ]
