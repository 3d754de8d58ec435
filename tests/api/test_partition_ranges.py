"""Partitions of an asset as ranges, and by dimension."""

import pytest

from core.models import Asset
from scheduling.algebra import specs
from scheduling.algebra.dimensions import MultiPartitions
from scheduling.algebra.partitions import StaticPartitions
from scheduling.algebra.time_shorthands import DailyPartitions
from tests.engine.world import asset

pytestmark = pytest.mark.django_db

REGIONS = StaticPartitions(["tw", "jp|osaka", "us"])


@pytest.fixture
def grid(api, lab):
    definition = MultiPartitions({"region": REGIONS, "day": DailyPartitions("2026-03-01", end="2026-03-06")})
    made = asset("grid", partitions=specs.dump(definition))
    for key in ("tw|2026-03-01", "tw|2026-03-02", "jp\\|osaka|2026-03-02", "us|2026-03-04"):
        assert (
            api.post("/api/v2/assets/events", {"asset_id": made.pk, "partition_key": key}).status_code == 200
        )
    return made


@pytest.fixture
def days(api, lab):
    made = asset("days", partitions=specs.dump(DailyPartitions("2026-03-01", end="2026-03-11")))
    for day in (1, 2, 3, 5):
        api.post("/api/v2/assets/events", {"asset_id": made.pk, "partition_key": f"2026-03-{day:02}"})
    return made


def url(made: Asset, query=""):
    return f"/api/v2/assets/{made.pk}/partitions?{query}"


def found(answer):
    rows = answer.json()["ranges"]
    return [(row["first_key"], row["last_key"], row["state"], row["count"]) for row in rows]


def counted(api, made, query=""):
    return api.get(url(made, f"summary=true&{query}")).json()


class TestSummary:
    def test_counts_what_is_expected_and_was_never_seen(self, api, days):
        counts = {"materialized": 4, "failed": 0, "running": 0, "missing": 6}
        assert counted(api, days) == {"counts": counts, "total_entries": 10}

    def test_of_one_state(self, api, days):
        assert counted(api, days, "state=missing") == {"counts": {"missing": 6}, "total_entries": 6}

    @pytest.mark.parametrize(
        ("query", "missing"),
        [
            ("partition_key_prefix_pattern=2026-03-1", 1),
            ("partition_key=2026-03-04&partition_key=2026-03-05", 1),
        ],
    )
    def test_of_some_keys(self, api, days, query, missing):
        assert counted(api, days, query)["counts"]["missing"] == missing

    def test_of_one_value_of_a_dimension(self, api, grid):
        counts = {"materialized": 2, "failed": 0, "running": 0, "missing": 3}
        assert counted(api, grid, "dimension=region:tw")["counts"] == counts

    def test_has_no_missing_where_only_what_was_seen_can_be_told(self, api, days):
        for query in ("partition_key_pattern=2026", "is_stale=false", "updated_at_gte=2020-01-01T00:00:00Z"):
            counts = {"materialized": 4, "failed": 0, "running": 0}
            assert counted(api, days, query) == {"counts": counts, "total_entries": 4}

    def test_counts_data_under_other_keys_and_no_lack_of_them(self, api, days):
        api.post("/api/v2/assets/events", {"asset_id": days.pk, "partition_key": "elsewhere"})
        assert counted(api, days)["counts"] == {"materialized": 5, "failed": 0, "running": 0, "missing": 6}
        api.delete(url(days, "partition_key=elsewhere"))
        for query in ("", "partition_key_prefix_pattern=e"):
            assert counted(api, days, query)["counts"]["missing"] == (0 if query else 6)

    def test_rows_of_what_is_missing_are_refused_with_where_to_ask(self, api, days):
        answer = api.get(url(days, "state=missing"))
        assert answer.status_code == 422
        assert "ranges=true&state=missing" in answer.json()["detail"]


class TestRanges:
    def test_are_of_all_that_is_expected(self, api, days):
        answer = api.get(url(days, "ranges=true"))
        assert found(answer) == [
            ("2026-03-01", "2026-03-03", "materialized", 3),
            ("2026-03-04", "2026-03-04", "missing", 1),
            ("2026-03-05", "2026-03-05", "materialized", 1),
            ("2026-03-06", "2026-03-10", "missing", 5),
        ]
        assert (answer.json()["total_entries"], answer.json()["partition_count"]) == (4, 10)

    def test_of_one_state(self, api, days):
        answer = api.get(url(days, "ranges=true&state=missing"))
        assert [row[0] for row in found(answer)] == ["2026-03-04", "2026-03-06"]
        assert answer.json()["partition_count"] == 6

    def test_of_some_keys(self, api, days):
        answer = api.get(url(days, "ranges=true&partition_key=2026-03-02&partition_key=2026-03-03"))
        assert found(answer) == [("2026-03-02", "2026-03-03", "materialized", 2)]
        prefix = api.get(url(days, "ranges=true&partition_key_prefix_pattern=2026-03-1"))
        assert found(prefix) == [("2026-03-10", "2026-03-10", "missing", 1)]

    def test_come_in_pages(self, api, days):
        answer = api.get(url(days, "ranges=true&limit=1&offset=1"))
        assert (len(found(answer)), answer.json()["total_entries"]) == (1, 4)
        assert found(answer)[0][0] == "2026-03-04"

    def test_of_an_unknown_state_are_refused(self, api, days):
        assert api.get(url(days, "ranges=true&state=green")).status_code == 422

    def test_of_several_dimensions_are_along_time_for_each_other_value(self, api, grid):
        answer = api.get(url(grid, "ranges=true&state=materialized&state=missing"))
        assert found(answer) == [
            ("tw|2026-03-01", "tw|2026-03-02", "materialized", 2),
            ("tw|2026-03-03", "tw|2026-03-05", "missing", 3),
            ("jp\\|osaka|2026-03-01", "jp\\|osaka|2026-03-01", "missing", 1),
            ("jp\\|osaka|2026-03-02", "jp\\|osaka|2026-03-02", "materialized", 1),
            ("jp\\|osaka|2026-03-03", "jp\\|osaka|2026-03-05", "missing", 3),
            ("us|2026-03-01", "us|2026-03-03", "missing", 3),
            ("us|2026-03-04", "us|2026-03-04", "materialized", 1),
            ("us|2026-03-05", "us|2026-03-05", "missing", 1),
        ]
        assert (answer.json()["total_entries"], answer.json()["partition_count"]) == (8, 15)

    def test_of_some_of_several_dimensions(self, api, grid):
        some = api.get(url(grid, "ranges=true&dimension=region:us"))
        assert [row[:2] for row in found(some)] == [
            ("us|2026-03-01", "us|2026-03-03"),
            ("us|2026-03-04", "us|2026-03-04"),
            ("us|2026-03-05", "us|2026-03-05"),
        ]
        one_day = api.get(url(grid, "ranges=true&dimension=day:2026-03-02"))
        assert [row[3] for row in found(one_day)] == [1, 1, 1]

    def test_without_time_are_along_the_last_dimension(self, api, lab):
        sizes = StaticPartitions(["s", "m"])
        both = asset("both", partitions=specs.dump(MultiPartitions({"region": REGIONS, "size": sizes})))
        assert found(api.get(url(both, "ranges=true"))) == [
            ("tw|s", "tw|m", "missing", 2),
            ("jp\\|osaka|s", "jp\\|osaka|m", "missing", 2),
            ("us|s", "us|m", "missing", 2),
        ]

    def test_of_a_thousand_are_read_as_fast_as_of_ten(self, api, lab, django_assert_max_num_queries):
        many = asset("many", partitions=specs.dump(StaticPartitions([f"k{n}" for n in range(1000)])))
        with django_assert_max_num_queries(10):
            answer = api.get(url(many, "ranges=true"))
        assert found(answer) == [("k0", "k999", "missing", 1000)]


class TestDimensions:
    @pytest.mark.parametrize(
        ("query", "keys"),
        [
            ("dimension=region:tw", ["tw|2026-03-01", "tw|2026-03-02"]),
            ("dimension=day:2026-03-02", ["jp\\|osaka|2026-03-02", "tw|2026-03-02"]),
            ("dimension=region:jp|osaka", ["jp\\|osaka|2026-03-02"]),
            ("dimension=region:tw&dimension=day:2026-03-01", ["tw|2026-03-01"]),
            ("dimension=region:t", []),
            ("dimension=region:.*", []),
        ],
    )
    def test_narrow_rows(self, api, grid, query, keys):
        rows = api.get(url(grid, query)).json()["partitions"]
        assert [row["partition_key"] for row in rows] == keys

    def test_narrow_counts_and_ranges(self, api, grid):
        assert api.get(url(grid, "dimension=region:tw&summary=true")).json()["total_entries"] == 5
        answer = api.get(url(grid, "dimension=region:us&ranges=true"))
        assert answer.json()["partition_count"] == 5

    @pytest.mark.parametrize(
        ("query", "status", "words"),
        [
            ("dimension=region", 422, "region:tw"),
            ("dimension=planet:mars", 400, "it has region, day"),
        ],
    )
    def test_that_make_no_sense_are_refused(self, api, grid, query, status, words):
        answer = api.get(url(grid, query))
        assert answer.status_code == status
        assert words in str(answer.json()["detail"])

    def test_of_keys_with_one_segment_are_refused(self, api, days):
        assert api.get(url(days, "dimension=day:2026-03-01")).status_code == 400
