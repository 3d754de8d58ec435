"""Lists, ordered and cut into pages."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.models import Asset, JournalEntry
from partitions_site.api import pages
from partitions_site.api.cursors import Order, cut
from partitions_site.api.errors import BadRequest, Invalid
from partitions_site.api.pages import Listing
from tests.api.listed import NAMES, NOW, NameOut

pytestmark = pytest.mark.django_db

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
    @settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
