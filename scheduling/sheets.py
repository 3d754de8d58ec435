"""The blocks of one drawing, read as they are needed and written together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from uuid import uuid4

from core.models import Drawing, DrawnBlock
from core.models.drawings import BLOCK
from scheduling.algebra.numbering import numbers_of
from scheduling.board.cells import Look
from scheduling.board.drawn import GONE
from scheduling.board.universe import Universe


class Sheet:
    """What one drawing shows, while looks are put into it."""

    def __init__(self, drawing: Drawing, expected: Universe) -> None:
        self.drawing, self.expected = drawing, expected
        self.blocks: dict[tuple[bool, int], DrawnBlock] = {}
        self.looks: dict[tuple[bool, int], bytearray] = {}
        self.numbers: dict[str, int] = {}
        self.names: dict[int, list[str]] = defaultdict(list)
        self.count = 0

    def put(self, looks: Mapping[str, int]) -> None:
        """Put the looks of some keys into the blocks that are there."""
        numbers = self._numbers(looks)
        loose = [key for key in looks if key not in numbers]
        if loose:
            self._find(set(loose))
        wanted = {number // BLOCK for number in numbers.values()}
        for block in self.drawing.blocks.filter(is_loose=False, number__in=wanted):
            self.blocks[False, block.number] = block
        self._set(looks, numbers, loose)
        self.write()

    def add(self, looks: Mapping[str, int]) -> None:
        """The same while there are no blocks but those of this sheet."""
        numbers = self._numbers(looks)
        self._set(looks, numbers, [key for key in looks if key not in numbers])

    def write(self) -> None:
        for (is_loose, number), looks in self.looks.items():
            found = self.blocks.get((is_loose, number))
            block = found or DrawnBlock(drawing=self.drawing, is_loose=is_loose, number=number)
            block.looks, block.edition = bytes(looks), uuid4()
            if is_loose:
                block.keys = "\n".join(self.names[number])
            block.save()

    def _numbers(self, looks: Mapping[str, int]) -> dict[str, int]:
        definition = self.expected.definition
        return numbers_of(definition, looks.keys(), self.expected.now) if definition else {}

    def _find(self, wanted: set[str]) -> None:
        """Number those of `wanted` that were drawn before; all others get numbers after the last.

        An asset may have a million keys without a definition: the blocks are read one after the other, and
        kept are those that say something else afterwards.
        """
        for block in self.drawing.blocks.filter(is_loose=True).order_by("number").iterator(chunk_size=4):
            names = block.keys.split("\n")
            self.count = block.number * BLOCK + len(names)
            if found := wanted.intersection(names):
                numbered = enumerate(names, start=block.number * BLOCK)
                self.numbers.update((name, number) for number, name in numbered if name in found)
            if found or len(names) < BLOCK:
                self.blocks[True, block.number], self.names[block.number] = block, names

    def _set(self, looks: Mapping[str, int], numbers: Mapping[str, int], loose: Sequence[str]) -> None:
        for key, number in numbers.items():
            look = looks[key]
            self._byte(False, number, Look.MISSING if look == GONE else look, Look.MISSING)
        for key in loose:
            if key in self.numbers or looks[key] != GONE:
                number = self.numbers.setdefault(key, self.count)
                if number == self.count:
                    self.names[number // BLOCK].append(key)
                    self.count += 1
                self._byte(True, number, looks[key], GONE)

    def _byte(self, is_loose: bool, number: int, look: int, blank: int) -> None:
        at, place = number // BLOCK, number % BLOCK
        if (is_loose, at) not in self.looks:
            block = self.blocks.get((is_loose, at))
            self.looks[is_loose, at] = bytearray(block.looks if block else b"")
        looks = self.looks[is_loose, at]
        if place >= len(looks):
            looks.extend(bytes([blank]) * (place + 1 - len(looks)))
        looks[place] = look
