"""Long lists, a page at a time: paged by key, so that the hundredth page costs what the first does.

What an index knows is found wherever it lies. What none does (a part of a key) is looked for among so many
rows at a time, so that no page costs more because nothing matches; of open held runs, among all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Generic, TypeVar

from django.db.models import Max, Min, Model, Q, QuerySet

from core.models import Asset, AssetEvent, Dag, DagRun, Dependency, HeldRun, JournalEntry
from scheduling.algebra.verdicts import Kind
from scheduling.board.filters import HeldFilter, JournalFilter, RunFilter
from scheduling.board.room import room_for

PAGE = 50

HELD_PAGE = 40
"""Each held run takes several lines and is judged as it is shown."""

MOST_LOOKED_THROUGH = 50_000
"""Rows of one page that are looked through for what no index knows."""

NEVER_FIRE = (Kind.BROKEN, Kind.UNREACHABLE)
"""Verdicts that do not mend themselves."""

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """Rows in order, and the primary key after which the next page goes on; none when there is no next.

    `looked_through`: among how many rows those that match were looked for; 0 if among all.
    """

    rows: list[Row]
    following: int | None
    looked_through: int = 0


@dataclass(frozen=True, slots=True)
class HeldPage:
    """Open held runs in order, and where the next page goes on; empty when there is no next."""

    rows: list[HeldRun]
    following: str


def held_runs(
    wanted: HeldFilter,
    *,
    now: datetime,
    after: str = "",
    size: int = HELD_PAGE,
    room: int | None = None,
    any_late: bool = True,
) -> HeldPage:
    """Open held runs: those that are late, those that can never fire, the others; each by their age.

    :param after: where a page before said that the next one goes on.
    :param room: bytes that their keys may take, as addresses have them.
    :param any_late: false where it is known that none is late: they are not looked for.
    """
    start, _, pk = after.partition(".")
    at, last = (int(start), int(pk)) if start.isdecimal() and pk.isdecimal() else (0, 0)
    within = ("-dag_id" if wanted.newest_first else "dag_id") if wanted.dag else ""
    found: list[tuple[int, HeldRun]] = []
    begun = at if any_late or wanted.only_late else max(at, 1)
    for number, rows in list(enumerate(_sections(_held(wanted), now, wanted.only_late)))[begun:]:
        part = page_of(
            rows,
            last if number == at else 0,
            size + 1 - len(found),
            newest_first=wanted.newest_first,
            within=within,
        )
        found += ((number, row) for row in part.rows)
        if len(found) > size:
            break
    shown = found[:size]
    if room:
        shown = shown[: room_for((row.partition_key for _, row in shown), room)]
    following = f"{shown[-1][0]}.{shown[-1][1].pk}" if len(found) > len(shown) else ""
    return HeldPage([row for _, row in shown], following)


def runs(wanted: RunFilter, *, after: int = 0, size: int = PAGE) -> Page[DagRun]:
    """Runs, newest first."""
    rows: QuerySet[DagRun] = DagRun.objects.filter(wanted.sight.dags("dag")).select_related("dag")
    sought = _contains(wanted.key)
    if wanted.run_id:
        # By the name of a run there are few: no order is needed to find them.
        rows = rows.filter(run_id=wanted.run_id, **({"dag": _dag(wanted.dag)} if wanted.dag else {}))
    elif wanted.dag:
        rows = _all_of(rows, "dag_id", _dag(wanted.dag))
    if wanted.state:
        rows = rows.filter(state=wanted.state)
    if wanted.run_type:
        sought &= Q(run_type=wanted.run_type)
    if wanted.due:
        rows = _during(rows, "run_after", *wanted.due)
    within = "dag_id" if wanted.dag and not wanted.run_id else ""
    return page_of(rows, after, size, newest_first=True, within=within, sought=sought)


def events(asset: Asset, *, key: str = "", after: int = 0, size: int = PAGE) -> Page[AssetEvent]:
    """Events of one asset whose key contains `key`, newest first."""
    rows = _all_of(AssetEvent.objects.select_related("source_run__dag"), "asset_id", asset.pk)
    page = page_of(rows, after, size, newest_first=True, within="asset_id", sought=_contains(key))
    return _with_room(page, [row.partition_key or "" for row in page.rows])


def journal(wanted: JournalFilter, *, after: int = 0, size: int = PAGE) -> Page[JournalEntry]:
    """Journal entries, newest first."""
    rows, sought, within = JournalEntry.objects.all(), _contains(wanted.key), ""
    if wanted.request:
        rows = rows.filter(request_id=wanted.request)
    if wanted.during:
        rows = _during(rows, "at", *wanted.during)
    for column, value in (("dag_id", wanted.dag), ("event", wanted.event)):
        if value and not within:
            rows, within = _all_of(rows, column, value), column
        elif value:
            sought &= Q(**{column: value})
    exact = {"asset_name": wanted.asset, "by": wanted.by, "extra__backfill": wanted.backfill}
    sought &= Q(**{field: value for field, value in exact.items() if value}) & wanted.sight.entries()
    page = page_of(rows, after, size, newest_first=True, within=within, sought=sought)
    return _with_room(page, [row.partition_key for row in page.rows])


def page_of(
    rows: QuerySet[Row],
    after: int,
    size: int,
    *,
    newest_first: bool,
    within: str = "",
    sought: Q | None = None,
) -> Page[Row]:
    """`size` rows beyond the one whose primary key is `after`.

    :param within: a column with one value in all `rows` (`_all_of`), in the direction of an index by it.
    :param sought: what no index knows, looked for in the next `MOST_LOOKED_THROUGH` rows only.
    """
    forth, back = ("lt", "gte") if newest_first else ("gt", "lte")
    if after:
        rows = rows.filter(**{f"pk__{forth}": after})
    rows = rows.order_by(*filter(None, [within]), "-pk" if newest_first else "pk")
    last = None
    if sought:
        last = next(
            iter(rows.values_list("pk", flat=True)[MOST_LOOKED_THROUGH - 1 : MOST_LOOKED_THROUGH]), None
        )
        rows = rows.filter(sought, **({f"pk__{back}": last} if last else {}))
    found = list(rows[: size + 1])
    if len(found) > size:
        return Page(found[:size], found[size - 1].pk)
    return Page(found, last, MOST_LOOKED_THROUGH if last else 0)


def _with_room(page: Page[Row], keys: Sequence[str]) -> Page[Row]:
    """`page`, or as much of it as has room where its `keys` are long."""
    room = room_for(keys)
    if room == len(page.rows):
        return page
    return replace(page, rows=page.rows[:room], following=page.rows[room - 1].pk)


def _during(rows: QuerySet[Row], column: str, since: datetime, until: datetime) -> QuerySet[Row]:
    """The rows whose instant in a column, which has an index, lies in a stretch of time.

    They are made nearly in the order of these, which no database knows: told between which primary keys they
    lie, it does not walk through all the others to find them.
    """
    within = Q(**{f"{column}__gte": since, f"{column}__lt": until})
    found = rows.model._default_manager.filter(within).order_by()
    ends = found.aggregate(first=Min("pk"), last=Max("pk"))
    return rows.filter(within, pk__gte=ends["first"] or 0, pk__lte=ends["last"] or 0)


def _all_of(rows: QuerySet[Row], column: str, value: int | str) -> QuerySet[Row]:
    """The rows with one value in a column, to be ordered by it.

    As a range from the value to itself: told that they are equal, PostgreSQL thinks nothing of that order,
    takes the rows to lie evenly among all others, and walks through those by their primary key.
    """
    return rows.filter(**{f"{column}__gte": value, f"{column}__lte": value})


def _contains(key: str) -> Q:
    """Keys that contain `key` in any case; where it has no letters, the comparison that costs a third."""
    if not key:
        return Q()
    return Q(**{f"partition_key__{'contains' if key.lower() == key.upper() else 'icontains'}": key})


def _dag(dag_id: str) -> int:
    """Its primary key, asked before: joined to Dags no database finds the index of the rows of one."""
    return Dag.objects.filter(dag_id=dag_id).values_list("pk", flat=True).first() or 0


def _held(wanted: HeldFilter) -> QuerySet[HeldRun]:
    rows: QuerySet[HeldRun] = HeldRun.objects.held()
    rows = rows.filter(wanted.sight.dags("dag")).select_related("dag")
    if wanted.verdict:
        rows = rows.filter(verdict=wanted.verdict)
    if wanted.dag:
        rows = _all_of(rows, "dag_id", _dag(wanted.dag))
    if wanted.asset:
        rows = rows.filter(dag__in=Dependency.objects.filter(asset__name=wanted.asset).values("dag"))
    return rows.filter(_contains(wanted.key))


def _sections(rows: QuerySet[HeldRun], now: datetime, only_late: bool = False) -> list[QuerySet[HeldRun]]:
    late, others = rows.filter(late_at__lte=now), rows.exclude(late_at__lte=now)
    if only_late:
        return [late]
    return [late, others.filter(verdict__in=NEVER_FIRE), others.exclude(verdict__in=NEVER_FIRE)]
