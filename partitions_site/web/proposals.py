"""What somebody would have a Dag listen by: a form, tried on keys, and what saving it would do."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from django.utils import timezone

from core.models import Dag, HeldRun
from partitions_site.web import specforms
from partitions_site.web.specforms import Node
from scheduling import configuration
from scheduling.algebra.condition_text import InvalidCondition
from scheduling.algebra.errors import InvalidDefinition, PartitionError
from scheduling.configuration.previewing import MOST_NAMED
from scheduling.configuration.problems import Problem
from scheduling.configuration.telling import Told
from scheduling.configuration.trying import Tried


@dataclass(slots=True)
class Proposal:
    """What somebody would have the Dag listen by, and what came of looking at it."""

    spec: Any
    form: Node
    keys: tuple[str, ...] = ()
    problem: str = ""
    refused_at: str = ""
    pointed: str = ""
    tried: list[Tried] | None = None
    trouble: str = ""
    preview: configuration.Preview | None = None
    typed: str = ""
    """JSON that somebody wrote and has not filled the form with."""

    is_withheld: bool = False
    """Whether it names an asset that whoever looks is not shown: no key is named that may be of it."""

    left: int | None = None
    """How many runs are held that nothing would fire, where the Dag would listen to nothing."""

    def new_problems(self, told: Told) -> list[Problem]:
        """What would be wrong with the Dag that is not now."""
        there = {each["sentence"] for each in told.problems}
        return [each for each in self.preview.problems if each.sentence not in there] if self.preview else []

    def mended(self, told: Told) -> list[str]:
        """What is wrong with the Dag and would not be."""
        if self.preview is None:
            return []
        after = {each.sentence for each in self.preview.problems}
        return [each["sentence"] for each in told.problems if each["sentence"] not in after]

    @property
    def wrong_field(self) -> str:
        """The id of what in the form is wrong; empty where that is all of it."""
        node = specforms.place(self.form, self.refused_at)
        return node.id if self.trouble and node is not self.form else ""

    @property
    def raw(self) -> str:
        """What the form says, as JSON."""
        return json.dumps(self.preview.spec if self.preview else self.spec, ensure_ascii=False, indent=2)

    @property
    def raw_name(self) -> str:
        """What tells JSON that was left as it was shown from JSON that was changed."""
        return name_of(self.raw)


def proposed(
    row: Dag, spec: Any, keys: tuple[str, ...], *, hidden: Collection[str] = frozenset()
) -> Proposal:
    """Look at `spec`: try it on keys, and say what saving it would do.

    :param hidden: assets of which no key is shown: what becomes of held runs is counted only.
    """
    proposal = Proposal(spec, specforms.draw(spec, types=_kept(row)), keys, is_withheld=bool(hidden))
    try:
        tried = configuration.try_schedule(row, None if spec == row.schedule else spec, keys)
        proposal.tried = [each for each in tried if each.asset not in hidden]
        if spec != row.schedule:
            most = 0 if hidden else MOST_NAMED
            proposal.preview = configuration.preview(row, spec, now=timezone.now(), most=most)
    except InvalidDefinition as refusal:
        where = f"{refusal.path}: " if refusal.path else ""
        proposal.trouble = f"{where}{refusal}"
        proposal.refused_at = refusal.path
        proposal.pointed = refusal.pointed() if isinstance(refusal, InvalidCondition) else ""
    except PartitionError as refusal:
        proposal.trouble = str(refusal)
    return proposal


def left_held(row: Dag) -> Proposal:
    """The Dag would listen to nothing: how many runs are held that nothing would fire."""
    left = HeldRun.objects.held().filter(dag=row).count()
    return Proposal(row.schedule, specforms.draw(row.schedule, types=_kept(row)), left=left)


def name_of(raw: str) -> str:
    return blake2b(raw.encode(errors="surrogatepass"), digest_size=12).hexdigest()


def _kept(row: Dag) -> tuple[str, ...]:
    kind = row.schedule.get("type") if isinstance(row.schedule, dict) else ""
    return (str(kind),) if kind else ()
