"""`partita partitions`: the state of each key of an asset."""

from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from itertools import chain, islice

from core.models import Asset, Partition
from partitions_site.cli.parsing import NotFound, add_limit, find_asset, now
from partitions_site.cli.replies import Reply, Row, shown, table
from scheduling import board
from scheduling.board import Cells, Look

STATES = {look.word: look for look in Look}
UNEXPECTED = "unexpected"
COLUMNS = {"partition_key": "KEY", "state": "STATE", "data_at": "DATA OF", "run": "RUN"}
PORTION = 500
"""Keys that are asked for at a time."""

RANGES = {"first_key": "FROM", "last_key": "TO", "state": "STATE", "count": "PARTITIONS"}


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("asset", metavar="ASSET")
    parser.add_argument(
        "--state",
        choices=[*STATES, UNEXPECTED],
        action="append",
        help="may be given more than once; unexpected: what the definition does not have, whatever its state",
    )
    parser.add_argument("--select", metavar="TEXT", help="such as '[2026-03-01...2026-03-10], 2026-04-01'")
    parser.add_argument("--ranges", action="store_true", help="neighbours of one state as one line")
    add_limit(parser)
    parser.set_defaults(do=do)


def do(given: Namespace) -> Reply:
    asset = find_asset(given.asset)
    cells = board.read([asset], now=now())[asset.pk].cells
    states = given.state or list(STATES)
    if UNEXPECTED in states:
        return _unexpected(asset, cells, given)
    looks = [STATES[each] for each in states]
    chosen = None
    if given.select is not None:
        choice = board.choose(asset, cells, given.select, None, now=now())
        if choice.wrong:
            raise NotFound(f"{choice.wrong}\n{choice.pointed}".strip())
        chosen = choice.positions
    none = f"{asset} has no such partitions."
    if given.ranges:
        ranges = board.in_lanes(cells, looks, among=chosen)[: given.limit]
        return table([asdict(each) for each in ranges], RANGES, none)
    found = board.spans(cells, looks, among=chosen)
    positions = list(islice(chain.from_iterable(span for _, span in found), given.limit))
    places = cells.places.places_at(positions)
    looks_of = {place.key: cells.look(at) for at, place in zip(positions, places, strict=True)}
    return table(_rows(asset, looks_of), COLUMNS, none)


def _unexpected(asset: Asset, cells: Cells, given: Namespace) -> Reply:
    """Keys that the definition does not have. They lie in no range and no selection of it."""
    if given.ranges or given.select is not None or len(set(given.state)) > 1:
        raise NotFound("--state unexpected stands alone: it goes with no other state, --ranges or --select")
    found = board.listed(cells, only_unexpected=True, size=given.limit)
    rows = _rows(asset, {line.key: line.look for line in found.rows})
    return table(rows, COLUMNS, f"{asset} has no key that its definition does not have.")


def _rows(asset: Asset, looks: Mapping[str, Look]) -> list[Row]:
    """Each key with its state, since when it has the data that it has, and the run that tried it last."""
    known: dict[str, tuple[datetime | None, int | None]] = {}
    keys = list(looks)
    for start in range(0, len(keys), PORTION):
        of_some = Partition.objects.filter(asset=asset, key__in=keys[start : start + PORTION])
        known |= {key: (at, run) for key, at, run in of_some.values_list("key", "data_at", "attempt_run")}
    facts = ((key, look, *known.get(key, (None, None))) for key, look in looks.items())
    return [
        {"partition_key": key, "state": look.word, "data_at": shown(at), "run": run}
        for key, look, at, run in facts
    ]
