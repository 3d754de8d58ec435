"""Which keys a Dag can be asked for, in order: by a definition, by its timetable, or those seen before."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Min

from core.models import Asset, Dag, Partition
from scheduling import dynamic, listening, runs
from scheduling.algebra import specs
from scheduling.algebra.choosing import select, select_among
from scheduling.algebra.errors import InvalidKey, PartitionError
from scheduling.algebra.keys import DEFAULT_DELIMITER, join_segments, validate_key
from scheduling.algebra.numbering import numbers_of, there
from scheduling.algebra.partitions import Partitions
from scheduling.algebra.selections import Everything, One, Span, Term, parse
from scheduling.algebra.subsets import Subset, keys_of
from scheduling.algebra.time_shorthands import partitions_of
from scheduling.algebra.timetables import CronPartitionTimetable, Timetable
from scheduling.backfills.asking import Ask, CannotBackfill, Dates
from scheduling.backfills.dated import check_size, keys_between
from scheduling.backfills.seen import EPOCH, seen

MOST_CHECKED = 1000
"""Keys that the timetable of a Dag is asked about; of more, so many are tried all over the range."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The keys of `dag` as things stand at `now`.

    `definition` is that of an asset it writes (`is_defined`) or what its timetable makes. Without one only
    the keys `seen` are known, and any other may be named.
    """

    dag: Dag
    timetable: Timetable
    now: datetime
    definition: Partitions | None
    is_defined: bool
    seen: tuple[str, ...] = ()

    def select(self, ask: Ask) -> list[str]:
        """The keys that `ask` means, the oldest first.

        :raises InvalidSelection: for a typed selection that cannot be read or means nothing.
        :raises InvalidKey: for a key that the Dag cannot have; it names some.
        :raises TooManyKeys: for more than a plan can hold, before any of them is made.
        """
        if ask.keys is not None:
            found = self.in_order(self._known(ask.keys))
        elif ask.dates is not None:
            found = self._between(ask.dates)
        elif ask.selection is not None:
            found = self._typed(ask.selection, ask.end_exclusive)
        else:
            found = self._everything()
        self._check(found)
        return found

    def count(self, ask: Ask) -> int:
        """How many keys `ask` means, none of them named. For what a definition numbers, not for dates.

        :raises InvalidSelection: for a typed selection that cannot be read or means nothing.
        """
        if self.definition is None or ask.selection is None:
            return len(self.seen) if self.definition is None else self.definition.count(self.now)
        return len(self._chosen(ask.selection, ask.end_exclusive, self.definition)[1])

    def in_order(self, keys: Iterable[str]) -> list[str]:
        """`keys` once each, the oldest first."""
        definition = self.numbered
        if definition is None:
            places = {key: place for place, key in enumerate(self.seen)}
            return sorted(dict.fromkeys(keys), key=lambda key: (places.get(key, len(places)), key))
        distinct = dict.fromkeys(keys)
        numbers = numbers_of(definition, distinct)
        return sorted(distinct, key=lambda key: (numbers.get(key, -1), key))

    @property
    def numbered(self) -> Partitions | None:
        """What numbers the keys, also those before the first that is asked for unless it is named."""
        return self._from_the_earliest() or self.definition

    def accepted(self, keys: Iterable[str]) -> list[str]:
        """Those of `keys` that the Dag can have by its timetable and, if there is one, by its definition."""
        possible = [key for key in keys if self._may_run(key)]
        if not self.is_defined or self.definition is None:
            return possible
        known = there(self.definition, possible, self.now)
        return [key for key in possible if key in known]

    def _may_run(self, key: str) -> bool:
        try:
            runs.date_of(self.dag, key)
        except PartitionError:
            return False
        return True

    def _typed(self, text: str, end_exclusive: bool) -> list[str]:
        if self.definition is None:
            return self._typed_among_seen(text)
        definition, chosen = self._chosen(text, end_exclusive, self.definition)
        return list(keys_of(definition, check_size(chosen), self.now))

    def _chosen(self, text: str, end_exclusive: bool, definition: Partitions) -> tuple[Partitions, Subset]:
        """The numbers of the keys that a text means, and whose numbers they are."""
        earlier = self._from_the_earliest()
        if earlier and not any(_is_open(term) for term in parse(text)):
            definition = earlier
        return definition, select(text, definition, self.now, end_exclusive=end_exclusive)

    def _typed_among_seen(self, text: str) -> list[str]:
        """Ranges are of keys that have been seen; single keys may be new."""
        delimiter = DEFAULT_DELIMITER if any(DEFAULT_DELIMITER in key for key in self.seen) else None
        terms = parse(text, delimiter)
        if all(isinstance(part, One) for term in terms for part in term):
            named = [[part.key for part in term if isinstance(part, One)] for term in terms]
            return self.in_order(keys[0] if len(keys) == 1 else join_segments(keys) for keys in named)
        chosen = select_among(text, self.seen, delimiter)
        return [self.seen[place] for place in chosen]

    def _everything(self) -> list[str]:
        if self.definition is None:
            return list(self.seen)
        everything = check_size(Subset.span(0, self.definition.count(self.now)))
        return list(keys_of(self.definition, everything, self.now))

    def _between(self, dates: Dates) -> list[str]:
        found = keys_between(dates, self.timetable, self.definition, self.now)
        if found is None:
            raise CannotBackfill(f"keys of Dag {self.dag} have no dates: select them by key")
        return found

    def _from_the_earliest(self) -> Partitions | None:
        """The keys that the timetable makes, from as early as anybody may ask for."""
        if self.is_defined or not isinstance(self.timetable, CronPartitionTimetable):
            return None
        return partitions_of(self.timetable, EPOCH)

    def _known(self, keys: Sequence[str]) -> Sequence[str]:
        for key in keys:
            validate_key(key)
        if self.is_defined and self.definition is not None:
            unknown = [key for key in keys if not self.definition.contains(key)]
            if unknown:
                more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
                names = ", ".join(repr(key) for key in unknown[:5])
                raise InvalidKey(f"not among {self.definition.words()}: {names}{more}")
        return keys

    def _check(self, keys: Sequence[str]) -> None:
        """See that runs of the Dag can have such keys."""
        step = max(1, len(keys) // MOST_CHECKED)
        for key in [*keys[::step], *keys[-1:]]:
            runs.date_of(self.dag, key)


def of_dag(dag: Dag, *, now: datetime) -> Scope:
    """The keys of a Dag.

    :raises NotPartitioned: if its runs have none; NotRunnable, if it is not defined any more.
    :raises BrokenDefinition: if its timetable cannot be read.
    """
    return of_definition(dag, now=now) or Scope(
        dag, _timetable(dag), now, None, is_defined=False, seen=seen(dag, now)
    )


def of_definition(dag: Dag, *, now: datetime) -> Scope | None:
    """The same as far as it takes no look at what there is; none where only that tells.

    :raises NotPartitioned, NotRunnable, BrokenDefinition: as `of_dag`.
    """
    timetable = _timetable(dag)
    assets = Asset.objects.filter(outlets__dag=dag).order_by("outlets__pk")
    defined = next((asset.partitions for asset in assets if asset.partitions), None)
    if defined:
        definition = dynamic.bound(specs.load(defined, "partitions"))
        return Scope(dag, timetable, now, definition, is_defined=True)
    if isinstance(timetable, CronPartitionTimetable):
        return Scope(dag, timetable, now, partitions_of(timetable, _begin(dag)), is_defined=False)
    return None


def _timetable(dag: Dag) -> Timetable:
    if not dag.is_active:
        raise runs.NotRunnable(f"Dag {dag} is not defined any more: it cannot run")
    timetable = listening.timetable_of(dag)
    if timetable is None or not (timetable.partitioned or timetable.at_runtime):
        raise runs.NotPartitioned(f"Dag {dag} is not partitioned: there are no keys to backfill")
    return timetable


def _begin(dag: Dag) -> datetime:
    """When the Dag began, or the first partition it has made, whichever was first."""
    made = Partition.objects.filter(asset__outlets__dag=dag).aggregate(first=Min("partition_date"))["first"]
    begun: datetime = dag.start_date or dag.created_at
    return begun if made is None else min(begun, made)


def _is_open(term: Term) -> bool:
    """Whether a term of a selection has no beginning of its own."""
    return any(
        isinstance(part, Everything) or (isinstance(part, Span) and part.first is None) for part in term
    )
