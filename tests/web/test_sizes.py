"""Pages of a full site: what they weigh and how often they ask does not grow with what there is."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Asset, HeldRun, Partition
from scheduling import drawings
from scheduling.algebra import specs
from scheduling.sdk import (
    DailyPartitions,
    HourlyPartitions,
    MinutelyPartitions,
    MultiPartitions,
    StaticPartitions,
)
from tests.engine import world
from tests.engine.world import HOURS_TO_DAY, NOW, consumer
from tests.web.reading import read

pytestmark = pytest.mark.django_db

MOST_BYTES = 200_000
SMALL, LARGE = 1, 6
PAGES = (
    "/",
    "/?show=problems",
    "/assets/hours",
    "/assets/hours?zoom=2025-10",
    "/assets/regions",
    "/assets/stores",
    "/assets/stores?zoom=2026-02",
    "/assets/stores?zoom=2026-02&sel=*|[2026-02-01...2026-02-09]&only=missing",
    "/assets/stores?state=failed",
    "/assets/minutes",
    "/assets/minutes?zoom=2026-03-10",
    "/assets/minutes?state=missing",
    "/assets/minutes?sel=*&only=missing",
    "/assets/reports",
    "/assets/reports?state=held",
    "/assets/hours?key=2026-01-01T00:00",
    "/assets/stores?tab=lineage",
    "/held",
    "/dags",
    "/dags/report 0",
    "/runs",
)


@pytest.fixture(autouse=True)
def at_noon(monkeypatch):
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)


def define(size: int) -> dict[str, Asset]:
    store = StaticPartitions([f"store-{number:03}" for number in range(30 * size)])
    minute = NOW - timedelta(minutes=20_000 * size)
    definitions = {
        "hours": HourlyPartitions("2025-09-01"),
        "regions": StaticPartitions([f"region-{number}" for number in range(50 * size)]),
        "stores": MultiPartitions({"store": store, "day": DailyPartitions("2025-06-01")}),
        "minutes": MinutelyPartitions(f"{minute:%Y-%m-%dT%H:%M}"),
    }
    for name, definition in definitions.items():
        world.asset(name)
        Asset.objects.filter(name=name).update(partitions=specs.dump(definition))
    for number in range(size):
        if not world.Dag.objects.filter(dag_id=f"report {number}").exists():
            consumer(f"report {number}", {"stores": HOURS_TO_DAY}, writes=["reports"])
    return {name: Asset.objects.get(name=name) for name in (*definitions, "reports")}


def fill(size: int) -> None:
    """Partitions in every state, and held runs; what was there stays."""
    assets = define(size)
    for name in ("hours", "regions", "stores", "minutes"):
        definition = specs.load(assets[name].partitions, "partitions")
        count = definition.count(NOW)
        numbers = range(0, count, max(1, count // (300 * size)))
        rows = [_partition(assets[name], definition.key_at(number, NOW), number) for number in numbers]
        Partition.objects.bulk_create(rows, ignore_conflicts=True)
    first = datetime(2015, 1, 1, tzinfo=UTC)
    for dag in world.Dag.objects.filter(dag_id__startswith="report"):
        days = [f"{first + timedelta(days=number):%Y-%m-%d}" for number in range(200)]
        HeldRun.objects.bulk_create(
            [
                HeldRun(dag=dag, partition_key=day, opened_at=NOW, last_event_at=NOW, filled_at=NOW)
                for day in days
            ],
            ignore_conflicts=True,
        )
    while drawings.draw(now=NOW):
        pass


def _partition(asset: Asset, key: str, number: int) -> Partition:
    attempt = ("success", "failed", "running", "success", "")[number % 5]
    data_at = NOW if number % 5 in (0, 3) else None
    stale = NOW if number % 5 == 3 else None
    return Partition(
        asset=asset, key=key, data_at=data_at, attempt=attempt, stale_since=stale, updated_at=NOW
    )


@pytest.fixture
def asked(visitor):
    """The queries of each page, and what it weighs, once the process has seen it."""

    def asked() -> dict[str, tuple[int, int]]:
        found = {}
        for page in PAGES:
            visitor.get(page)
            with CaptureQueriesContext(connection) as queries:
                answer = visitor.get(page)
            assert answer.status_code == 200, page
            found[page] = (len(queries), len(answer.content))
        return found

    return asked


def test_pages_ask_and_weigh_the_same_however_much_there_is(asked):
    fill(SMALL)
    small = asked()
    fill(LARGE)
    assert Asset.objects.count() == 5
    large = asked()
    assert {page: queries for page, (queries, _) in large.items()} == {
        page: queries for page, (queries, _) in small.items()
    }
    assert [page for page, (_, size) in large.items() if size > MOST_BYTES] == []


def test_what_is_not_drawn_yet_costs_a_fixed_number_of_queries(asked):
    fill(SMALL)
    drawn = asked()
    counts = []
    for some in (2, 40):
        keys = Partition.objects.filter(asset__name="stores", state="materialized").order_by("pk")[:some]
        Partition.objects.filter(pk__in=list(keys.values_list("pk", flat=True))).update(attempt="failed")
        counts.append({page: queries for page, (queries, _) in asked().items()})
    assert counts[0] == counts[1]
    assert all(counts[1][page] - drawn[page][0] <= 2 for page in PAGES)


def test_no_page_reads_the_partitions_of_an_asset(visitor):
    """Of a drawn asset no statement fetches rows but those of the keys that are shown one by one."""
    fill(SMALL)
    visitor.get("/assets/stores")
    with CaptureQueriesContext(connection) as found:
        visitor.get("/assets/stores?zoom=2026-02")
    statements = [query["sql"] for query in found if 'FROM "core_partition" WHERE' in query["sql"]]
    assert len(statements) == 2
    assert "is_undrawn" in statements[0]
    keys = statements[1].partition('"key" IN (')[2]
    assert 0 < keys.count("store-") <= 50  # a sample, in which numbers are looked for


def test_one_failed_among_very_many_is_seen_on_the_bar(visitor):
    fill(SMALL)
    Partition.objects.filter(asset__name="minutes").update(attempt="success", data_at=NOW, stale_since=None)
    key = Partition.objects.filter(asset__name="minutes").order_by("pk")[150].key
    Partition.objects.filter(asset__name="minutes", key=key).update(attempt="failed")
    page = read(visitor.get("/assets/minutes"))
    assert page.all("path", class_="f")
    [row] = [
        each
        for each in page.all("a")
        if "1 failed" in each.attributes.get("aria-label", "")
        and "href" in each.attributes
        and each.attributes.get("class", "").startswith("c ")
    ]
    assert row.attributes["href"] == f"?zoom={key[:13]}"
