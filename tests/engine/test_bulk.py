from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from core import bulk
from core.models import Asset, AssetEvent, DynamicKey, HeldRun, Partition
from tests.engine.world import IDENTITY, NOW, asset, consumer, emit, turn

pytestmark = pytest.mark.django_db

COLUMNS = ("asset_id", "key", "data_at", "extra", "attempt", "outcome", "stale_since", "updated_at")


def row(key, extra=None, at=NOW, stale=None):
    return (asset("a").pk, key, at, extra or {}, "", "", stale, NOW)


def write(*rows, conflict=None):
    return bulk.insert(Partition, COLUMNS, rows, conflict or bulk.Ignore())


class TestLoad:
    KEYS = ("a/b?c#d&e=%2F", "{a,b}", "NULL", "\\N", "Zürich", "東京", "a\\|b", "'", "\\.", "a\\tb")

    def load(self, *keys):
        bulk.load(DynamicKey, ("name", "key", "added_at", "added_by", "removed_at", "removed_by"), list(keys))

    def test_text_is_kept_byte_for_byte(self):
        self.load(*(("n", key, NOW, "line\nline", None, "") for key in self.KEYS))
        found = list(
            DynamicKey.objects.order_by("id").values_list("key", "added_at", "added_by", "removed_at")
        )
        assert found == [(key, NOW, "line\nline", None) for key in self.KEYS]

    def test_nothing_is_no_statement(self):
        with CaptureQueriesContext(connection) as queries:
            self.load()
        assert len(queries) == 0

    def test_a_row_that_may_not_be_is_an_error(self):
        with pytest.raises(IntegrityError), transaction.atomic():
            self.load(("n", "k", NOW, "a", None, ""), ("n", "k", NOW, "a", None, ""))


class TestInsert:
    @pytest.mark.parametrize(
        "key", ["a/b?c#d&e=%2F", '{"k1":"v1"}', "{a,b}", "NULL", "Zürich", "東京", "a\\|b", "'"]
    )
    def test_text_is_kept_byte_for_byte(self, key):
        write(row(key, {"note": key}))
        kept = Partition.objects.get()
        assert (kept.key, kept.extra, kept.data_at, kept.state) == (key, {"note": key}, NOW, "materialized")

    def test_no_json_is_not_the_json_of_nothing(self):
        bulk.insert(
            Asset,
            ("name", "uri", "group", "extra", "partitions", "is_active", "created_at", "updated_at"),
            [("x", "x", "g", None, None, True, NOW, NOW), ("y", "y", "g", {}, {"a": None}, True, NOW, NOW)],
        )
        assert Asset.objects.get(partitions__isnull=True).name == "x"
        assert Asset.objects.get(name="y").partitions == {"a": None}

    def test_a_row_that_is_there_is_left_as_it_was(self):
        assert write(row("k", {"n": 1})) == 1
        assert write(row("k", {"n": 2}), row("other")) == 1
        assert list(Partition.objects.order_by("key").values_list("key", "extra")) == [
            ("k", {"n": 1}),
            ("other", {}),
        ]

    def test_or_takes_the_new_values_of_the_named_columns_only(self):
        write(row("k", {"n": 1}, stale=NOW))
        later = NOW + timedelta(hours=1)
        write(row("k", {"n": 2}, at=later), conflict=bulk.Replace(("asset_id", "key"), ("data_at",)))
        kept = Partition.objects.get()
        assert (kept.data_at, kept.extra, kept.is_stale) == (later, {"n": 1}, True)

    def test_or_takes_of_each_group_of_columns_what_is_newer(self):
        later = NOW + timedelta(hours=1)
        groups = (("data_at", ("data_at", "extra")), ("updated_at", ("attempt", "updated_at")))
        newest = bulk.Newest(("asset_id", "key"), groups)
        write(row("k", {"n": 2}, at=later))
        write(row("k", {"n": 1}), conflict=newest)
        kept = Partition.objects.get()
        assert (kept.data_at, kept.extra) == (later, {"n": 2})
        write(row("k", {"n": 3}, at=later + timedelta(seconds=1)), conflict=newest)
        assert Partition.objects.get().extra == {"n": 3}

    def test_where_nothing_says_how_new_a_row_is_any_is_newer(self):
        newest = bulk.Newest(("asset_id", "key"), (("data_at", ("data_at", "extra")),))
        write(row("k", at=None))
        write(row("k", {"n": 1}), conflict=newest)
        assert Partition.objects.get().extra == {"n": 1}

    def test_no_rows_are_no_statement(self, django_assert_num_queries):
        with django_assert_num_queries(0):
            assert write() == 0

    @pytest.mark.parametrize("count", [1, 2, 3])
    def test_rows_may_have_any_columns_in_common(self, count):
        """PostgreSQL is sent such a value once; a JSON of nothing, no JSON and no instant are values, too."""
        for extra, at in ((None, None), ({"n": [1, None]}, NOW), ({}, NOW)):
            Partition.objects.all().delete()
            write(*(row(f"k{number}", extra, at) for number in range(count)))
            kept = Partition.objects.order_by("key").values_list("key", "extra", "data_at", "stale_since")
            assert list(kept) == [(f"k{number}", extra or {}, at, None) for number in range(count)]

    def test_rows_may_have_all_columns_in_common(self):
        write(row("k"), row("k"), row("k"))
        assert Partition.objects.count() == 1

    def test_one_row_gets_the_number_that_the_database_gives_it(self):
        columns = ("name", "uri", "group", "extra", "partitions", "is_active", "created_at", "updated_at")
        made = bulk.insert_one(Asset, columns, ("x", "x", "g", {"a": 1}, None, True, NOW, NOW))
        assert Asset.objects.get(pk=made).extra == {"a": 1}

    def test_thousands_at_once(self):
        write(*(row(f"k{number}") for number in range(5000)))
        assert Partition.objects.count() == 5000


class TestUpdate:
    def test_each_row_gets_its_own_values(self):
        consumer("joined", {"a": IDENTITY, "b": IDENTITY})
        emit("a", "x", "y")
        turn()
        x, y = HeldRun.objects.order_by("partition_key")
        bulk.update(HeldRun, ("sentence", "judge_after"), [(x.pk, "first", NOW), (y.pk, "it's second", None)])
        assert list(HeldRun.objects.order_by("partition_key").values_list("sentence", "judge_after")) == [
            ("first", NOW),
            ("it's second", None),
        ]


class TestTakeIds:
    def test_they_are_fresh_and_ascending(self):
        emit("a", "k")
        ids = bulk.take_ids(AssetEvent, 3)
        assert ids == sorted(set(ids))
        assert min(ids) > AssetEvent.objects.get().pk

    def test_rows_made_afterwards_do_not_collide(self):
        [first, second] = bulk.take_ids(AssetEvent, 2)
        AssetEvent.objects.bulk_create(
            AssetEvent(pk=pk, asset=asset("a"), source="api", timestamp=NOW) for pk in (first, second)
        )
        emit("a", "k")
        assert AssetEvent.objects.count() == 3
