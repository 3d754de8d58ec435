"""The blocks of drawings, each read once by a process for as long as nobody draws it again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import F

from core.models import Drawing, DrawnBlock
from scheduling.board.universe import Universe

TRIES = 5
"""Looks at blocks that somebody draws meanwhile."""

MOST_KEPT = 64_000_000
"""Bytes of blocks that one process keeps, roughly; then it begins anew."""

KEY_WEIGHT = 100
"""What a kept key takes, roughly."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What is in a block of one edition; `keys` of a loose one."""

    edition: UUID
    looks: bytes
    keys: tuple[str, ...]

    @property
    def weight(self) -> int:
        return len(self.looks) + KEY_WEIGHT * len(self.keys)


_kept: dict[int, _Content] = {}
"""The blocks that this process has seen, each as it was last, by primary key."""


@dataclass(frozen=True, slots=True)
class _Name:
    """A block as its drawing has it now."""

    pk: int
    number: int
    is_loose: bool
    edition: UUID


@dataclass(frozen=True, slots=True)
class Block:
    number: int
    is_loose: bool
    content: _Content


def of_drawings(asset_ids: set[int], expected: Mapping[int, Universe]) -> dict[int, list[Block]]:
    """The blocks of each drawing; none of one that has been made anew for another definition meanwhile."""
    for _ in range(TRIES):
        names = _editions(asset_ids, expected)
        known = _contents([name for blocks in names.values() for name in blocks])
        if known is not None:
            return {
                asset_id: [Block(name.number, name.is_loose, known[name.pk]) for name in blocks]
                for asset_id, blocks in names.items()
            }
    return {}


def _editions(asset_ids: set[int], expected: Mapping[int, Universe]) -> dict[int, list[_Name]]:
    found: dict[int, list[_Name]] = {}
    if not asset_ids:
        return found
    rows = Drawing.objects.filter(asset__in=asset_ids).annotate(
        block=F("blocks__pk"),
        number=F("blocks__number"),
        is_loose=F("blocks__is_loose"),
        edition=F("blocks__edition"),
    )
    fields = ("asset_id", "name", "block", "number", "is_loose", "edition")
    for asset_id, name, *block in rows.values_list(*fields):
        if name == expected[asset_id].name:
            blocks = found.setdefault(asset_id, [])
            if block[0] is not None:
                blocks.append(_Name(*block))
    return found


def _contents(names: Sequence[_Name]) -> dict[int, _Content] | None:
    """What is in these blocks, read where this process has not seen it; none if one has been drawn again."""
    known = {name.pk: kept for name in names if (kept := _kept.get(name.pk)) and kept.edition == name.edition}
    unseen = [name.pk for name in names if name.pk not in known]
    rows = DrawnBlock.objects.filter(pk__in=unseen) if unseen else DrawnBlock.objects.none()
    for pk, edition, looks, keys in rows.values_list("pk", "edition", "looks", "keys"):
        known[pk] = _Content(edition, bytes(looks), tuple(keys.split("\n")) if keys else ())
    if unseen:
        _keep({pk: known[pk] for pk in unseen if pk in known})
    return (
        known if all(name.pk in known and known[name.pk].edition == name.edition for name in names) else None
    )


def _keep(new: Mapping[int, _Content]) -> None:
    weight = sum(each.weight for each in list(_kept.values())) + sum(each.weight for each in new.values())
    if weight > MOST_KEPT:
        _kept.clear()
    _kept.update(new)
