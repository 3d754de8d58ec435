"""Rules that every list of the API keeps, asked of each of them."""

import base64
import json
from contextlib import suppress
from importlib import import_module
from itertools import product
from pkgutil import iter_modules

import pytest
from django.contrib.auth.models import Group, User
from django.http import QueryDict
from rest_framework.test import APIClient

from core.models import Asset, AssetEvent
from partitions_site import api as package
from partitions_site import roles
from partitions_site.api import assets, cursors, pages
from partitions_site.api.errors import BadRequest, Invalid, Unprocessable
from scheduling.algebra import specs
from scheduling.algebra.partitions import DynamicPartitions
from tests.api.defining import LAB, define, settle_all
from tests.api.listings import LISTS
from tests.engine.world import asset

pytestmark = pytest.mark.django_db


# What somebody may write into a cursor in the place of a column.
WRITTEN = [
    *("\x00", "\ud800", "k\udfff", "", "9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"),
    *("9999-12-31T23:59:59.999999-14:00", "0001-01-01T00:00:00+14:00", "2026-03-10", "2026-03-10T09:00"),
    *(2**63, -(2**63) - 1, 10**400, 1e308, True, False, None, [], {}, ["k"], {"a": 1}),
    *("1e999", "9" * 5000, "NaN", "P9999999999D", "-1 day", "99999999 00:00:00"),
]
SAMPLES = {str: "a", int: "1", bool: "true", float: "1.5"}


@pytest.fixture(params=LISTS)
def each(request):
    listing, rows = LISTS[request.param]
    return listing, rows


@pytest.fixture(scope="module")
def some(db_of_the_file):
    """A few rows in every table, some of them alike: no test here writes."""
    define(LAB)
    lab = {each.name: each for each in Asset.objects.all()}
    operator = User.objects.create_user("operator")
    operator.groups.add(Group.objects.get(name=roles.OPERATOR))
    api = APIClient()
    api.force_authenticate(operator)
    for name, keys in {
        "regional_orders": ("tw", "jp", "us", "tw"),
        "hourly_sales": ("2026-03-10T09:00:00", "2026-03-10T10:00:00", "2026-03-11T09:00:00"),
        "plain_asset": (None, None),
    }.items():
        for key in keys:
            api.post("/api/v2/assets/events", {"asset_id": lab[name].pk, "partition_key": key})
    settle_all()
    for key in ("2026-03-10T09:00:00", "2026-03-11T09:00:00"):
        api.post("/api/v2/dags/lab_hourly_sales/dagRuns", {"partition_key": key})
    api.post("/api/v2/dags/lab_plain/dagRuns", {})
    for hour in ("09", "10"):
        dates = {"from_date": f"2026-02-18T{hour}:00:00Z", "to_date": "2026-02-18T12:00:00Z"}
        backfill = api.post("/api/v2/backfills", {"dag_id": "lab_hourly_sales"} | dates).json()["id"]
        api.put(f"/api/v2/backfills/{backfill}/cancel")
    asset("stores", partitions=specs.dump(DynamicPartitions("stores")))
    api.post("/api/v2/partitionsDefinitions/stores/keys", {"partition_keys": ["b", "a", "c"]})


def walk(listing, rows, order):
    found, token = [], ""
    while token is not None:
        page = listing.page(QueryDict(f"limit=2&order_by={order}&cursor={token}"), rows())
        found += [row.pk for row in page.rows]
        token = page.next_cursor
    return found


def test_none_is_left_out():
    modules = [import_module(f"{package.__name__}.{each.name}") for each in iter_modules(package.__path__)]
    found = [each for module in modules for each in vars(module).values() if isinstance(each, pages.Listing)]
    assert all(any(each is listing for listing, _ in LISTS.values()) for each in found)


class TestOrders:
    def test_each_goes_up_and_down(self, some, each):
        listing, rows = each
        for name in listing.orders:
            up = [row.pk for row in listing.page(QueryDict(f"order_by={name}&limit=100"), rows()).rows]
            down = [row.pk for row in listing.page(QueryDict(f"order_by=-{name}&limit=100"), rows()).rows]
            assert down == up[::-1], name

    def test_each_has_the_same_rows_by_cursor(self, some, each):
        listing, rows = each
        for name in listing.orders if listing.cursors or listing.bounded else ():
            if name == "conf":
                continue  # no cursor says what is not shown
            for order in (name, f"-{name}"):
                whole = [
                    row.pk for row in listing.page(QueryDict(f"order_by={order}&limit=100"), rows()).rows
                ]
                assert walk(listing, rows, order) == whole, order

    def test_its_own_order_is_one_that_it_has(self, each):
        listing, _ = each
        assert {column.removeprefix("-") for column in listing.default} <= {*listing.orders.values(), "id"}

    def test_one_it_does_not_have_is_refused(self, each):
        listing, rows = each
        with pytest.raises(BadRequest, match="Ordering with 'password' is disallowed"):
            listing.page(QueryDict("order_by=password"), rows())

    def test_a_related_column_is_no_order_unless_it_is_named(self, each):
        """`order_by=dag__source__traceback` would tell, row by row, what it must not show."""
        listing, rows = each
        for name in ("pk", "dag__dag_id", "user__password", "?", "-", ""):
            with pytest.raises(BadRequest):
                listing.page(QueryDict(f"order_by={name}"), rows())


class TestFilters:
    def test_each_parameter_is_described_once(self, each):
        listing, _ = each
        names = [parameter.name for one in listing.filters for parameter in one.parameters()]
        assert len(names) == len(set(names))
        assert not set(names) & {"limit", "offset", "order_by", "cursor"}

    def test_each_parameter_narrows_or_is_refused(self, some, each):
        listing, rows = each
        for one in listing.filters:
            for parameter in one.parameters():
                for sample in {SAMPLES.get(parameter.type, "a"), "2026-03-10", "~", "x|y"}:
                    query = QueryDict(mutable=True)
                    query[parameter.name] = sample
                    try:
                        found = listing.narrowed(query)
                    except (Invalid, Unprocessable):
                        continue
                    assert rows().filter(found).count() <= rows().count()

    def test_each_parameter_says_in_words_what_it_does_or_what_it_takes(self, each):
        listing, _ = each
        for one in listing.filters:
            for parameter in one.parameters():
                assert parameter.description or parameter.enum or parameter.type in (bool, str, int)

    def test_no_parameter_narrows_nothing_but_what_stands_by_default(self, some, each):
        listing, rows = each
        default = rows().filter(listing.narrowed(QueryDict("")))
        unknown = rows().filter(listing.narrowed(QueryDict("nothing=of&the=kind")))
        assert set(default.values_list("pk", flat=True)) == set(unknown.values_list("pk", flat=True))

    def test_two_parameters_both_count(self, some):
        query = QueryDict("name_pattern=sales&uri_pattern=daily")
        found = Asset.objects.filter(assets.ASSETS.narrowed(query)).values_list("name", flat=True)
        assert list(found) == ["daily_sales_summary"]


class TestPages:
    def test_none_is_longer_than_a_hundred(self, each):
        listing, rows = each
        assert len(listing.page(QueryDict("limit=100000"), rows()).rows) <= pages.MOST_ROWS

    def test_the_total_does_not_depend_on_the_page(self, some, each):
        listing, rows = each
        totals = {
            listing.page(QueryDict(query), rows()).total
            for query in ("", "limit=0", "limit=1", "limit=1&offset=1", "limit=100&offset=1000")
        }
        assert len(totals) == 1

    def test_a_page_beyond_the_end_is_empty(self, each):
        listing, rows = each
        assert listing.page(QueryDict("offset=40000"), rows()).rows == []

    def test_a_list_without_cursors_takes_no_notice_of_one(self, each):
        listing, rows = each
        if not (listing.cursors or listing.bounded):
            assert listing.page(QueryDict("cursor=nonsense"), rows()).next_cursor is None

    def test_a_cursor_of_another_list_is_refused(self, some):
        listing, rows = LISTS["events"]
        token = listing.page(QueryDict("cursor=&limit=1"), rows()).next_cursor
        other, other_rows = LISTS["runs"]
        with pytest.raises(BadRequest):
            other.page(QueryDict(f"cursor={token}"), other_rows())

    def test_a_cursor_with_any_value_is_a_place_or_refused(self, some, each):
        """Somebody may write one: whatever it says, no database is asked what it cannot compare."""
        listing, rows = each
        for name in listing.orders if listing.cursors or listing.bounded else ():
            for order, value in product((name, f"-{name}"), WRITTEN):
                columns = listing._orders([order])
                text = json.dumps([*map(str, columns), 0, *[value] * len(columns)])
                token = base64.urlsafe_b64encode(text.encode()).decode()
                try:
                    with suppress(BadRequest):
                        listing.page(QueryDict(f"order_by={order}&cursor={token}&limit=1"), rows())
                except Exception as error:
                    error.add_note(f"order {order}, value {ascii(value)[:20]}")
                    raise

    def test_a_cursor_holds_no_more_than_the_columns_of_its_order(self, some):
        listing, rows = LISTS["events"]
        token = listing.page(QueryDict("cursor=&limit=1"), rows()).next_cursor
        place = cursors._decoded(rows(), listing._orders([]), token)
        first = AssetEvent.objects.earliest("timestamp", "id")
        assert place.values == [first.timestamp, first.pk]
