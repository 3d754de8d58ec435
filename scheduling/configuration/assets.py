"""Writes assets, merged from every file that names them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.models import Asset as Row
from scheduling import journal
from scheduling.algebra import specs
from scheduling.authoring.assets import Asset
from scheduling.authoring.dags import assets_of
from scheduling.authoring.files import Loaded
from scheduling.configuration.deeds import DEFINITIONS

DEFAULT_GROUP = "asset"
_NOTHING: tuple[object, ...] = ("", None, {})


@dataclass(slots=True)
class Description:
    """What the files together say of one asset, each statement with the file that makes it."""

    name: str
    said: dict[str, Any] = field(default_factory=dict)
    by: dict[str, str] = field(default_factory=dict)

    def hear(self, asset: Asset, file: str) -> Iterator[str]:
        """Take what `asset` says that was not said before; a sentence for each contradiction."""
        for attribute, value in _statements(asset).items():
            if value in _NOTHING:
                continue
            if attribute not in self.said:
                self.said[attribute], self.by[attribute] = value, file
            elif self.said[attribute] != value:
                yield (
                    f"the {attribute} of asset {self.name} is {value!r} here and {self.said[attribute]!r} in "
                    f"{self.by[attribute]}, which counts"
                )


@dataclass(frozen=True, slots=True)
class Assets:
    """The rows by name, the contradictions between files: (file, sentence), and whose keys are others now."""

    rows: dict[str, Row]
    contradictions: list[tuple[str, str]]
    redefined: set[int]


def write_assets(loaded: Sequence[Loaded], at: datetime) -> Assets:
    """Write every asset that `loaded` name. If a file could not be loaded, nothing is taken back."""
    descriptions: dict[str, Description] = {}
    contradictions: list[tuple[str, str]] = []
    for file in loaded:
        for asset in _named_in(file):
            description = descriptions.setdefault(asset.name, Description(asset.name))
            contradictions += [(file.name, sentence) for sentence in description.hear(asset, file.name)]
    is_whole = not any(file.failure for file in loaded)
    rows = {row.name: row for row in Row.objects.select_for_update(no_key=True).order_by("name")}
    before = {row.pk: row.partitions for row in rows.values()}
    for description in descriptions.values():
        _write(description, rows, is_whole=is_whole, at=at)
    if is_whole:
        _retire((row for row in rows.values() if row.name not in descriptions), at)
    redefined = {row.pk for row in rows.values() if row.pk in before and row.partitions != before[row.pk]}
    return Assets(rows, contradictions, redefined)


def _named_in(file: Loaded) -> Iterator[Asset]:
    yield from file.assets
    for dag in file.dags:
        yield from assets_of(dag)


def _statements(asset: Asset) -> dict[str, Any]:
    return {
        "uri": asset.uri,
        "group": asset.group,
        "extra": dict(asset.extra),
        "partitions": specs.dump(asset.partitions) if asset.partitions is not None else None,
    }


def _write(description: Description, rows: dict[str, Row], *, is_whole: bool, at: datetime) -> None:
    name, said = description.name, description.said
    row = rows.get(name)
    is_new = row is None
    defaults: dict[str, Any] = {"uri": name, "group": DEFAULT_GROUP, "extra": {}, "partitions": None}
    wanted = {**(defaults if is_new or is_whole else {}), **said, "is_active": True}
    if row is None:
        row = rows[name] = Row(name=name, created_at=at)
    before = {attribute: getattr(row, attribute) for attribute in wanted}
    if is_new or before != wanted:
        for attribute, value in wanted.items():
            setattr(row, attribute, value)
        row.updated_at = at
        row.save()
        journal.note("asset defined" if is_new else "asset changed", deed=DEFINITIONS, at=at, about=row)


def _retire(rows: Iterable[Row], at: datetime) -> None:
    for row in rows:
        if row.is_active:
            row.is_active, row.updated_at = False, at
            row.save(update_fields=["is_active", "updated_at"])
            journal.note("asset no longer defined", deed=DEFINITIONS, at=at, about=row)
