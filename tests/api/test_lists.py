"""Lists: narrowed, ordered, and cut into pages."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import Q
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.models import Asset, JournalEntry
from partitions_site.api import pages
from partitions_site.api.cursors import Order, cut
from partitions_site.api.errors import BadRequest, Invalid, Unprocessable
from partitions_site.api.fields import Whole
from partitions_site.api.filters import AnyOf, Exactly, Pattern, Prefix, Range, When
from partitions_site.api.pages import Listing
from tests.api.listed import NameOut

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 10, 9, tzinfo=UTC)
NAMES = ["Hourly_sales", "hourly%orders", "daily_sales", "tw|2026", "tw", "ünder"]


@pytest.fixture
def assets():
    rows = [Asset(name=name, uri=f"s3://{name}", created_at=NOW, updated_at=NOW) for name in NAMES]
    return Asset.objects.bulk_create(rows)


def names(query, *filters):
    found = Asset.objects.order_by("id")
    for each in filters:
        found = found.filter(each.narrow(QueryDict(query)))
    return list(found.values_list("name", flat=True))


class TestPattern:
    @pytest.mark.parametrize(
        ("term", "found"),
        [
            ("SALES", ["Hourly_sales", "daily_sales"]),
            ("hourly_", ["Hourly_sales", "hourly%orders"]),
            ("h%s", ["Hourly_sales", "hourly%orders"]),
            ("daily|tw", ["daily_sales", "tw|2026", "tw"]),
            ("~", NAMES),
            ("daily|~", NAMES),
            ("", NAMES),
            ("nothing", []),
            ("a\\", []),
        ],
    )
    def test_has_live_wildcards_and_alternatives(self, assets, term, found):
        assert names(f"name_pattern={term.replace('%', '%25')}", Pattern("name", "name")) == found

    def test_may_take_a_bar_for_itself(self, assets):
        assert names("name_pattern=tw|2", Pattern("name", "name", alternatives=False)) == ["tw|2026"]

    @pytest.mark.parametrize("kind", [Pattern, Prefix])
    def test_has_so_many_alternatives_and_no_more(self, assets, kind):
        """A condition of thousands is more than SQLite can read."""
        name = f"name_{'' if kind is Pattern else 'prefix_'}pattern"
        terms = [f"nothing{number}" for number in range(100)]
        assert names(f"{name}={'|'.join(terms)}", kind("name", "name")) == []
        assert names(f"{name}={'|'.join(['daily'] * 5000)}", kind("name", "name")) == ["daily_sales"]
        with pytest.raises(Invalid) as caught:
            names(f"{name}={'|'.join([*terms, 'more'])}", kind("name", "name"))
        assert caught.value.problems[0]["msg"] == "At most 100 alternatives, not 101"

    def test_refuses_what_no_column_can_hold(self, assets):
        with pytest.raises(Invalid) as caught:
            names("name_pattern=a%00", Pattern("name", "name"))
        assert caught.value.problems[0]["loc"] == ["query", "name_pattern"]


class TestPrefix:
    @pytest.mark.parametrize(
        ("term", "found"),
        [
            ("hourly", ["hourly%orders"]),
            ("Hourly", ["Hourly_sales"]),
            ("hourly_", ["hourly%orders"]),
            ("hourly%", ["hourly%orders"]),
            ("daily|Hour", ["Hourly_sales", "daily_sales"]),
            ("ü", ["ünder"]),
            ("___", NAMES),
            ("sales", []),
        ],
    )
    def test_is_exact_but_for_punctuation_at_its_end(self, assets, term, found):
        assert names(f"name_prefix_pattern={term.replace('%', '%25')}", Prefix("name", "name")) == found


class TestOtherFilters:
    def test_a_range_has_four_ends(self, assets):
        Asset.objects.filter(name="tw").update(created_at=NOW + timedelta(days=1))
        at = "2026-03-11T09:00:00Z"
        created = Range("created_at", "created_at")
        assert names(f"created_at_gte={at}", created) == ["tw"]
        assert names(f"created_at_gt={at}", created) == []
        assert names(f"created_at_lte={at}", created) == NAMES
        assert "tw" not in names(f"created_at_lt={at}", created)

    @pytest.mark.parametrize("naive", ["2026-03-11", "2026-03-11T00:00:00"])
    def test_an_instant_without_an_offset_is_utc(self, assets, naive):
        assert names(f"created_at_lt={naive}", Range("created_at", "created_at")) == NAMES

    def test_a_range_refuses_what_is_no_instant(self, assets):
        with pytest.raises(Invalid) as caught:
            names("created_at_gte=yesterday", Range("created_at", "created_at"))
        assert caught.value.problems[0]["loc"] == ["query", "created_at_gte"]

    def test_any_of_may_be_repeated_or_joined(self, assets):
        assert names("n=tw&n=daily_sales", AnyOf("n", "name")) == ["daily_sales", "tw"]
        assert names("n=tw,daily_sales", AnyOf("n", "name", commas=True)) == ["daily_sales", "tw"]
        assert names("n=tw,daily_sales", AnyOf("n", "name")) == []

    def test_any_of_means_what_it_is_told_to(self, assets):
        sales = AnyOf("kind", "name", {"sales": ("Hourly_sales", "daily_sales"), "none": ()})
        assert names("kind=sales", sales) == ["Hourly_sales", "daily_sales"]
        assert names("kind=none", sales) == []
        with pytest.raises(Unprocessable, match=r"Invalid value for kind\. Valid values are sales, none"):
            names("kind=other", sales)

    def test_any_of_has_a_fallback(self, assets):
        assert names("", AnyOf("n", "name", fallback=("tw",))) == ["tw"]

    def test_exactly_reads_numbers(self, assets):
        row = assets[2]
        assert names(f"id={row.pk}", Exactly("id", "id", Whole)) == [row.name]
        assert names(f"id={2**70}", Exactly("id", "id", Whole)) == []
        with pytest.raises(Invalid):
            names("id=x", Exactly("id", "id", Whole))

    def test_when_has_a_default(self, assets):
        Asset.objects.filter(name="tw").update(is_active=False)
        only = When("only_active", lambda only: Q(is_active=only), default="true")
        assert "tw" not in names("", only)
        assert names("only_active=false", only) == ["tw"]


LISTING = Listing(noun="assets", out=NameOut, orders={"id": "id", "name": "name", "uri": "uri"}, cursors=True)


def page(query, listing=LISTING):
    return listing.page(QueryDict(query), Asset.objects.all())


def on(found):
    return [row.name for row in found.rows]


class TestOffset:
    def test_begins_with_fifty(self, assets):
        assert page("").total == len(NAMES)
        rows = [Asset(name=f"n{at:03}", created_at=NOW, updated_at=NOW) for at in range(150)]
        Asset.objects.bulk_create(rows)
        assert len(page("").rows) == 50
        assert len(page("limit=5000").rows) == 100

    @pytest.mark.parametrize(
        ("query", "rows", "total"), [("limit=0", 0, 6), ("limit=2&offset=5", 1, 6), ("offset=9", 0, 6)]
    )
    def test_tells_the_total_beside_the_page(self, assets, query, rows, total):
        found = page(query)
        assert (len(found.rows), found.total) == (rows, total)

    def test_does_not_count_what_the_page_shows(self, assets, django_assert_num_queries):
        with django_assert_num_queries(1):
            page("limit=100")
        with django_assert_num_queries(2):
            page("limit=2")

    @pytest.mark.parametrize("query", ["limit=-1", "limit=x", "offset=-1", f"offset={2**40}"])
    def test_refuses_what_is_no_page(self, assets, query):
        with pytest.raises(Invalid) as caught:
            page(query)
        assert caught.value.problems[0]["loc"] == ["query", query.partition("=")[0]]


class TestOrder:
    def test_is_by_number_unless_asked(self, assets):
        assert on(page("")) == NAMES

    def test_breaks_ties_by_number_in_the_direction_of_the_first(self, assets):
        Asset.objects.update(uri="same")
        assert on(page("order_by=uri")) == NAMES
        assert on(page("order_by=-uri")) == NAMES[::-1]

    def test_refuses_what_it_does_not_know(self, assets):
        with pytest.raises(
            BadRequest, match="Ordering with 'nope' is disallowed or the attribute does not exist"
        ):
            page("order_by=nope")

    def test_refuses_more_than_ten(self, assets):
        with pytest.raises(BadRequest):
            page("&".join(["order_by=name"] * 11))


class TestBoundedList:
    """A list of ours may be endless: nothing in it costs more further back."""

    bounded = Listing(noun="assets", out=NameOut, orders={"id": "id"}, bounded=True)

    def test_stops_counting(self, assets, monkeypatch):
        monkeypatch.setattr(pages, "MOST_COUNTED", 4)
        found = page("limit=2", self.bounded)
        assert (found.total, found.total_limit) == (4, 4)

    def test_is_exact_below(self, assets):
        found = page("limit=2", self.bounded)
        assert (found.total, found.total_limit) == (6, None)

    def test_offers_cursors_instead_of_far_offsets(self, assets, monkeypatch):
        monkeypatch.setattr(pages, "MOST_COUNTED", 4)
        with pytest.raises(BadRequest, match="cursor="):
            page("offset=5", self.bounded)


class TestCursor:
    def walk(self, query, key):
        found, token = [], ""
        while token is not None:
            each = page(f"{query}&cursor={token}")
            found.append(on(each))
            token = getattr(each, key)
        return found

    def test_leads_through_the_list(self, assets):
        assert self.walk("limit=4", "next_cursor") == [NAMES[:4], NAMES[4:]]

    def test_counts_up_to_a_limit(self, assets):
        found = page("cursor=&limit=2")
        assert (found.total, found.total_limit, found.previous_cursor) == (6, 50_000, None)

    def test_leads_back(self, assets):
        second = page(f"limit=4&cursor={page('limit=4&cursor=').next_cursor}")
        back = page(f"limit=4&cursor={second.previous_cursor}")
        assert on(back) == NAMES[:4]
        assert back.previous_cursor is None
        assert back.next_cursor is not None

    @pytest.mark.parametrize("token", ["x", "bm9wZQ", "W10", "eyJhIjoxfQ", "é", "WyJpZCIsMCwieCJd"])
    def test_refuses_what_it_did_not_give_out(self, assets, token):
        with pytest.raises(BadRequest, match="Invalid cursor"):
            page(f"cursor={token}")

    def test_refuses_a_cursor_of_another_order(self, assets):
        token = page("limit=1&cursor=&order_by=name").next_cursor
        with pytest.raises(BadRequest, match="Invalid cursor"):
            page(f"limit=1&cursor={token}&order_by=-name")

    def test_costs_the_same_wherever_it_lies(self, assets):
        """The place is a condition on an index, not rows to pass over."""
        token = page("limit=4&cursor=").next_cursor

        with CaptureQueriesContext(connection) as captured:
            page(f"limit=4&cursor={token}")
        assert "OFFSET" not in captured[0]["sql"]


ROWS = st.lists(
    st.tuples(
        st.sampled_from(["", "a", "b", "B", "ü"]),
        st.sampled_from([None, NOW, NOW + timedelta(microseconds=1), NOW + timedelta(days=1)]),
    ),
    max_size=9,
)
ORDERS = st.lists(
    st.builds(Order, st.sampled_from(["first_name", "last_login", "is_staff"]), st.booleans()), max_size=3
)


class TestAnyWalk:
    @given(rows=ROWS, orders=ORDERS, limit=st.integers(1, 4), last=st.booleans())
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_meets_every_row_once_there_and_back(self, db, rows, orders, limit, last):
        """Whatever the order, with ties and nulls: pages joined are the list, forwards and backwards."""
        User.objects.all().delete()
        JournalEntry.objects.all().delete()
        made = [
            User(username=str(at), first_name=name, last_login=when) for at, (name, when) in enumerate(rows)
        ]
        User.objects.bulk_create(made)
        orders = [*orders, Order("id", last)]
        there, token, ends = [], "", []
        while token is not None:
            page = cut(User.objects.all(), orders, token, limit)
            there.append(page.rows)
            ends.append(page.previous_cursor)
            token = page.next_cursor
        assert sorted(row.pk for page in there for row in page) == sorted(
            User.objects.values_list("pk", flat=True)
        )
        back, token = there[-1:], ends[-1]
        while token is not None:
            page = cut(User.objects.all(), orders, token, limit)
            back.insert(0, page.rows)
            token = page.previous_cursor
        assert [row.pk for page in back for row in page] == [row.pk for page in there for row in page]
