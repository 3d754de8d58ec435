"""`/ui/calendar/{dag_id}`: runs per day or hour, and those that are planned."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from core.models import DagRun
from scheduling import claims
from scheduling.algebra import specs
from scheduling.algebra.cron_timetables import CronPartitionTimetable
from scheduling.board import calendar
from scheduling.board.calendar import Span, Square
from tests.engine import world

pytestmark = pytest.mark.django_db

URL = "/ui/calendar/lab_hourly_sales"
NOW = datetime(2026, 12, 30, 20, 30, tzinfo=UTC)


def trigger(api, *keys, dag="lab_hourly_sales"):
    for key in keys:
        body = {"partition_key": key} if key else {}
        assert api.post(f"/api/v2/dags/{dag}/dagRuns", body).status_code == 200


def seen(answer):
    rows = answer.json()["dag_runs"]
    return [(row["date"], row["state"], row["count"]) for row in rows if row["state"] != "planned"]


class TestRuns:
    def test_are_counted_by_day_and_state(self, api, lab):
        trigger(api, "2026-03-10T09:00:00", "2026-03-10T10:00:00", "2026-03-11T09:00:00")
        assert seen(api.get(URL)) == [
            ("2026-03-10T00:00:00Z", "queued", 2),
            ("2026-03-11T00:00:00Z", "queued", 1),
        ]

    def test_or_by_hour(self, api, lab):
        trigger(api, "2026-03-10T09:00:00", "2026-03-10T10:00:00")
        assert [date for date, _, _ in seen(api.get(f"{URL}?granularity=hourly"))] == [
            "2026-03-10T09:00:00Z",
            "2026-03-10T10:00:00Z",
        ]

    def test_are_in_airflows_words(self, api, lab):
        trigger(api, "2026-03-10T09:00:00", "2026-03-10T10:00:00")
        first, second = DagRun.objects.order_by("pk")
        claims.fail(claims.claim(first.pk, worker="w", now=timezone.now()), "boom", at=timezone.now())
        DagRun.objects.filter(pk=second.pk).update(state="cancelled")
        assert seen(api.get(URL)) == [("2026-03-10T00:00:00Z", "failed", 2)]

    def test_without_a_partition_date_belong_to_when_they_were_to_start(self, api, lab):
        body = {"run_after": "2026-03-10T09:00:00Z"}
        api.post("/api/v2/dags/lab_plain/dagRuns", body)
        assert seen(api.get("/ui/calendar/lab_plain")) == [("2026-03-10T00:00:00Z", "queued", 1)]

    @pytest.mark.parametrize(
        ("query", "days"),
        [
            ("partition_date_gte=2026-03-11", [11, 12]),
            ("partition_date_gt=2026-03-10&partition_date_lt=2026-03-12", [11]),
            ("partition_date_lte=2026-03-10", [10]),
            ("logical_date_gte=2026-03-11T00:00:00Z&logical_date_lte=2026-03-11T23:00:00Z", [11]),
            ("logical_date_lt=2026-03-10T09:00:00Z", []),
        ],
    )
    def test_of_some_days_only(self, api, lab, query, days):
        trigger(api, "2026-03-10T09:00:00", "2026-03-11T09:00:00", "2026-03-12T09:00:00")
        assert [int(date[8:10]) for date, _, _ in seen(api.get(f"{URL}?{query}"))] == days


class TestPlanned:
    def squares(self, dag, **options):
        return calendar.squares(
            dag, options.get("span", Span()), hourly=options.get("hourly", False), now=NOW
        )

    def test_until_the_end_of_the_year(self, db):
        dag = world.dag("hourly", specs.dump(CronPartitionTimetable("0 * * * *", timezone="UTC")))
        assert self.squares(dag) == [
            Square(datetime(2026, 12, 30, tzinfo=UTC), "planned", 3),
            Square(datetime(2026, 12, 31, tzinfo=UTC), "planned", 24),
        ]

    def test_days_are_those_of_the_timetables_zone(self, db):
        schedule = CronPartitionTimetable("0 0 * * *", timezone="Asia/Taipei", key_format="%Y-%m-%d")
        dag = world.dag("daily", specs.dump(schedule))
        # At 20:30Z it is the 31st there, 04:30: the tick of the next midnight is next year's.
        assert self.squares(dag) == []
        hourly = CronPartitionTimetable("0 * * * *", timezone="Asia/Taipei")
        found = self.squares(world.dag("hours", specs.dump(hourly)))
        assert found == [Square(datetime(2026, 12, 30, 16, tzinfo=UTC), "planned", 19)]

    def test_within_the_days_that_are_asked_for(self, db):
        dag = world.dag("hourly", specs.dump(CronPartitionTimetable("0 * * * *", timezone="UTC")))
        span = Span(datetime(2026, 12, 31, 22, tzinfo=UTC))
        assert [each.count for each in self.squares(dag, span=span)] == [2]

    def test_no_more_than_so_many(self, db, monkeypatch):
        dag = world.dag("minutely", specs.dump(CronPartitionTimetable("* * * * *", timezone="UTC")))
        monkeypatch.setattr(calendar, "MOST_PLANNED", 100)
        assert sum(each.count for each in self.squares(dag)) == 100

    def test_not_for_a_dag_that_is_gone(self, db):
        schedule = specs.dump(CronPartitionTimetable("0 * * * *", timezone="UTC"))
        assert self.squares(world.dag("gone", schedule, is_active=False)) == []


class TestRefusals:
    @pytest.mark.parametrize(
        ("url", "status"),
        [
            ("/ui/calendar/nope", 404),
            (f"{URL}?granularity=weekly", 422),
            (f"{URL}?partition_date_gte=soon", 422),
            (f"{URL}?logical_date_gte=soon", 422),
        ],
    )
    def test_say_what_is_wrong(self, api, lab, url, status):
        answer = api.get(url)
        assert answer.status_code == status
        assert answer.json()["detail"]


def test_one_query_however_many_runs(api, lab, django_assert_max_num_queries):
    trigger(api, *(f"2026-03-10T{hour:02}:00:00" for hour in range(10)))
    dag = DagRun.objects.first().dag
    with django_assert_max_num_queries(1):
        assert calendar.squares(dag, Span(), hourly=False, now=NOW)
