import math

import pytest

from scheduling.algebra.errors import InvalidKey
from scheduling.authoring.outlets import NotAnOutlet, OutletEvents
from scheduling.keeping import NotKept
from scheduling.sdk import Asset

SALES, STOCK = Asset("sales"), Asset("stock")


@pytest.fixture
def events() -> OutletEvents:
    return OutletEvents("ingest", [SALES, STOCK])


class TestOutletEvents:
    def test_has_an_event_for_each_outlet(self, events):
        assert list(events) == [SALES, STOCK]
        assert len(events) == 2

    def test_knows_an_asset_however_it_is_written(self, events):
        events[Asset("sales", uri="s3://sales")].extra = {"rows": 1}
        assert events[SALES].extra == {"rows": 1}

    def test_refuses_an_asset_that_was_not_declared(self, events):
        with pytest.raises(
            NotAnOutlet, match="prices is not an outlet of ingest, whose outlets are: sales, stock"
        ):
            events[Asset("prices")]


class TestAddPartitions:
    def test_takes_one_key_or_several(self, events):
        events[SALES].add_partitions("tw")
        events[SALES].add_partitions(["jp", "us"])
        assert list(events[SALES].keys) == ["tw", "jp", "us"]

    def test_takes_any_iterable_of_keys(self, events):
        events[SALES].add_partitions(key for key in ("tw", "jp"))
        events[SALES].add_partitions({"us": None})
        assert list(events[SALES].keys) == ["tw", "jp", "us"]

    def test_collapses_keys_named_twice(self, events):
        events[SALES].add_partitions(["tw", "tw"])
        events[SALES].add_partitions("tw")
        assert list(events[SALES].keys) == ["tw"]

    @pytest.mark.parametrize("key", ["", " tw", "t\nw", "t" * 251, 7, None])
    def test_refuses_what_cannot_be_a_key_where_it_is_named(self, events, key):
        with pytest.raises(InvalidKey):
            events[SALES].add_partitions([key])

    def test_describes_keys_one_by_one_on_top_of_all(self, events):
        event = events[SALES]
        event.extra = {"source": "ftp", "rows": 0}
        event.add_partitions("tw", extra={"rows": 5})
        event.add_partitions("jp")
        event.add_partitions("tw", extra={"late": True})
        assert dict(event.extras()) == {
            "tw": {"source": "ftp", "rows": 5, "late": True},
            "jp": {"source": "ftp", "rows": 0},
        }


class TestCheck:
    def test_passes_what_json_can_say(self, events):
        events[SALES].extra = {"rows": 41_233, "mean": 1.5, "tags": ["a", None], "path": "C:\\u0000"}
        events.check()

    @pytest.mark.parametrize("value", [{1, 2}, object(), math.nan, math.inf, b"x"])
    def test_refuses_what_json_cannot_say(self, events, value):
        events[SALES].extra["rows"] = value
        with pytest.raises(NotKept, match="the extra of sales is not JSON"):
            events.check()

    def test_looks_at_the_extra_of_each_key(self, events):
        events[STOCK].add_partitions("tw", extra={"rows": {1}})
        with pytest.raises(NotKept, match="the extra of stock"):
            events.check()

    @pytest.mark.parametrize("extra", [{"a": ["\0"]}, {"\0": 1}, {"a": {"b": "\ud800"}}])
    def test_refuses_characters_that_no_database_keeps(self, events, extra):
        events[SALES].extra = extra
        with pytest.raises(NotKept, match="cannot be stored"):
            events.check()

    def test_refuses_anything_but_a_dictionary(self, events):
        events[SALES].extra = [1]
        with pytest.raises(NotKept, match="is a dictionary, not list"):
            events.check()

    def test_refuses_an_extra_that_contains_itself(self, events):
        events[SALES].extra["self"] = events[SALES].extra
        with pytest.raises(NotKept, match="not JSON"):
            events.check()
