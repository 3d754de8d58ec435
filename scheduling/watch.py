"""Notices that definition files have been changed, added or taken away, without reading them."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from scheduling.authoring import files
from scheduling.authoring.files import DefinitionFile

Sight = frozenset[tuple[Path, int, int]]


class Watch:
    """What the files of `sources` looked like when somebody last asked; at first, like nothing."""

    def __init__(self, sources: Sequence[str]) -> None:
        self._sources = sources
        self._seen: Sight | None = None

    def has_changed(self) -> bool:
        """Whether a file differs in time or size from the last look, or there is another set of files."""
        sight = frozenset(_sights(self._sources))
        changed = sight != self._seen
        self._seen = sight
        return changed


def _sights(sources: Sequence[str]) -> Iterable[tuple[Path, int, int]]:
    for source in sources:
        for file in files.find(source):
            if isinstance(file, DefinitionFile):
                try:
                    status = file.path.stat()
                except OSError:  # taken away between the listing and the look: the next look tells
                    continue
                yield file.path, status.st_mtime_ns, status.st_size
