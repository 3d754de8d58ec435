"""Filters against a plain reading of what they mean, on whatever database the tests run."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core.models import Asset, DagRun
from partitions_site.api.filters import PUNCTUATION, Pattern, Prefix, Range
from partitions_site.api.pages import Listing
from partitions_site.api.runs import RUNS
from tests.api.listed import NameOut

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 10, tzinfo=UTC)
NAMES = [
    "a",
    "A",
    "ab",
    "aB",
    "a%b",
    "a_b",
    "a|b",
    "b~a",
    "~",
    "a\\b",
    "a'b",
    "ba",
    "_",
    "%",
    "a-",
    "a--b",
    "zz",
    "日本",
]

terms = st.text(alphabet="aAbBz%_|~\\-' 日", max_size=4)
steady = settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def names():
    rows = [
        Asset(name=name, uri="x", created_at=NOW + timedelta(minutes=at), updated_at=NOW)
        for at, name in enumerate(NAMES)
    ]
    Asset.objects.bulk_create(rows)


def query(**given):
    found = QueryDict(mutable=True)
    found.update(given)
    return found


def found_by(filter, **given):
    return set(Asset.objects.filter(filter.narrow(query(**given))).values_list("name", flat=True))


def contains(term, name):
    """`%` is any text, `_` any character, the rest is itself in any case of A to Z."""
    pieces = {"%": ".*", "_": "."}
    pattern = "".join(pieces.get(letter, re.escape(letter)) for letter in term)
    return re.search(pattern, name, re.IGNORECASE | re.DOTALL) is not None


class TestPattern:
    @given(term=terms)
    @example(term="|")
    @example(term="a|")
    @example(term="~|zz")
    @example(term="\\")
    @steady
    def test_finds_what_a_plain_reading_finds(self, names, term):
        parts = [part for part in term.split("|") if part]
        everything = not parts or "~" in parts
        wanted = {name for name in NAMES if everything or any(contains(part, name) for part in parts)}
        assert found_by(Pattern("name", "name"), name_pattern=term) == wanted

    @given(term=terms)
    @steady
    def test_may_take_a_bar_for_itself(self, names, term):
        wanted = {name for name in NAMES if term == "~" or contains(term, name)}
        assert found_by(Pattern("name", "name", alternatives=False), name_pattern=term) == wanted


class TestPrefix:
    @given(term=terms)
    @example(term="a-")
    @example(term="---")
    @example(term="日")
    @steady
    def test_finds_what_begins_with_it(self, names, term):
        parts = [part for part in term.split("|") if part]
        starts = [part.rstrip(PUNCTUATION) for part in parts]
        everything = not starts or "" in starts
        wanted = {name for name in NAMES if everything or any(name.startswith(start) for start in starts)}
        assert found_by(Prefix("name", "name"), name_prefix_pattern=term) == wanted


BOUNDS = {
    "gte": lambda at, bound: at >= bound,
    "gt": lambda at, bound: at > bound,
    "lte": lambda at, bound: at <= bound,
    "lt": lambda at, bound: at < bound,
}


class TestRange:
    @given(bounds=st.dictionaries(st.sampled_from(list(BOUNDS)), st.integers(-2, len(NAMES) + 2), max_size=4))
    @steady
    def test_has_the_ends_it_names(self, names, bounds):
        instants = {bound: NOW + timedelta(minutes=minutes) for bound, minutes in bounds.items()}
        asked = {f"created_at_{bound}": at.isoformat() for bound, at in instants.items()}
        wanted = {
            name
            for at, name in enumerate(NAMES)
            if all(BOUNDS[bound](NOW + timedelta(minutes=at), limit) for bound, limit in instants.items())
        }
        assert found_by(Range("created_at", "created_at"), **asked) == wanted


LISTING = Listing(
    noun="assets", out=NameOut, orders={"name": "name", "created_at": "created_at"}, cursors=True
)


class TestPages:
    @given(
        order=st.sampled_from(["name", "-name", "created_at", "-created_at"]),
        limit=st.integers(1, 20),
        offset=st.integers(0, 25),
    )
    @steady
    def test_are_slices_of_the_list(self, names, order, limit, offset):
        whole = [row.pk for row in LISTING.page(query(order_by=order), Asset.objects.all()).rows]
        page = LISTING.page(query(order_by=order, limit=str(limit), offset=str(offset)), Asset.objects.all())
        assert [row.pk for row in page.rows] == whole[offset : offset + limit]
        assert page.total == len(NAMES)


@pytest.mark.pg
class TestPlans:
    """What keeps lists fast on a million rows: the plan of PostgreSQL, told not to read whole tables."""

    @pytest.fixture(autouse=True)
    def no_whole_tables(self):
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_sort = off")

    def plan(self, rows):
        return rows.explain()

    def page(self, rows, **asked):
        """The statement that reads one page, as a query of its own."""
        from partitions_site.api import cursors

        orders = LISTING._orders(query(**asked).getlist("order_by"))
        first = cursors.cut(rows, orders, "", 1)
        place = cursors._decoded(rows, orders, first.next_cursor)
        return cursors.ordered(rows.filter(cursors._beyond(rows, orders, place)), orders)[:2]

    def test_a_page_by_cursor_is_a_walk_along_an_index(self, names):
        plan = self.plan(self.page(Asset.objects.order_by(), order_by="name"))
        assert "Index Scan" in plan
        assert "Index Cond: ((name)::text >=" in plan

    def test_an_event_list_by_time_walks_its_index(self):
        from core.models import AssetEvent

        plan = self.plan(AssetEvent.objects.order_by("timestamp", "id")[:100])
        assert "event_by_time" in plan


@pytest.mark.sqlite
class TestPlansOfSQLite:
    """It takes an index of some rows for a statement that says itself which, and joins as it likes."""

    @pytest.mark.parametrize("state", ["failed", "cancelled", "skipped"])
    def test_runs_that_went_wrong_are_read_by_an_index_of_just_those(self, state):
        rows = DagRun.objects.filter(RUNS.narrowed(query(state=state)), dag=1)
        for asked in (rows.order_by("-run_after", "-id")[:100], rows.order_by()):
            assert "run_gone_wrong" in asked.explain()

    def test_nobody_writes_into_a_statement(self):
        with pytest.raises(ValueError, match="is no word of ours"):
            DagRun.objects.filter(state__among=["failed') OR ('1' = '1"]).exists()

    def test_a_page_of_events_is_read_without_a_join(self, api, lab):
        with CaptureQueriesContext(connection) as asked:
            api.get("/api/v2/assets/events?order_by=-timestamp")
        [page] = [each["sql"] for each in asked if 'ORDER BY "core_assetevent"."timestamp"' in each["sql"]]
        assert "JOIN" not in page
