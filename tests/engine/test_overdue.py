"""When held runs become late."""

from datetime import datetime

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import HeldRun
from scheduling import holds, overdue, wiping
from tests.engine import world
from tests.engine.overdue_day import DAY, HALF, again, at
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, consumer, emit, hours, turn
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db


MIDNIGHT = at(0)


class TestWhenAProducerChanges:
    """Its new cadence says anew when what waits for it will be late."""

    @pytest.fixture
    def define(self, tmp_path):
        directory = Directory(tmp_path)

        def define(cron: str, writes: str = "rates", moment: datetime = MIDNIGHT) -> datetime | None:
            directory.write(
                "shop",
                f"""
                from datetime import datetime, timedelta, timezone
                rates, sales = Asset("rates"), Asset("sales")
                with DAG("fetch", schedule=CronPartitionTimetable("{cron}", key_format="%Y-%m-%d"),
                         start_date=datetime(2026, 3, 1, tzinfo=timezone.utc), is_paused_upon_creation=True):
                    @task(outlets=[{writes}])
                    def fetch(): ...
                    fetch()
                DAG("meet", schedule=PartitionedAssetTimetable(
                    assets=rates & sales, late_after=timedelta(minutes=30)))
                """,
            )
            report = directory.sync(moment)
            assert report.ok, report.troubles
            turn(moment)
            row = HeldRun.objects.held().first()
            return row.late_at if row else None

        return define

    def test_earlier_is_late_earlier(self, define):
        define("0 12 * * *")
        emit("sales", DAY, at=at(1))
        turn(at(1))
        assert world.held("meet", DAY).late_at == at(12) + HALF
        assert define("0 6 * * *", moment=at(2)) == at(6) + HALF

    def test_and_writes_it_no_more_nobody_knows(self, define):
        define("0 12 * * *")
        emit("sales", DAY, at=at(1))
        turn(at(1))
        assert define("0 12 * * *", writes="Asset('others')", moment=at(2)) is None


class TestWhen:
    def test_is_late_when_its_first_missing_key_is(self, day):
        assert day.late_at == at(9) + HALF

    def test_is_late_later_when_that_has_come(self, day):
        emit("hourly", *hours(DAY, 9), at=at(9, 10))
        turn(at(9, 10))
        assert again(day).late_at == at(22) + HALF

    def test_the_times_that_keys_of_the_next_round_had_are_past(self, day):
        emit("hourly", *hours(DAY, 9, 22), at=at(9))
        turn(at(9))
        emit("hourly", *hours(DAY, 9), at=at(23))
        turn(at(23))
        row = world.held("sum", DAY)
        assert (row.round, row.verdict, row.late_at) == (2, "settling", None)

    def test_keys_that_must_all_come_again_are_expected_from_when_the_first_came(self, ingest):
        made = consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800, late="restart")
        emit("hourly", *hours(DAY, *range(24)), at=at(23))
        turn(at(23))
        emit("hourly", *hours(DAY, 9), at=at(12, day=11))
        turn(at(12, day=11))
        row = world.held("sum", DAY)
        assert (row.round, row.verdict) == (2, "waiting")
        assert row.late_at == at(12, 30, day=11)
        emit("hourly", *hours(DAY, 10), at=at(12, 20, day=11))
        turn(at(12, 20, day=11))
        assert again(row).late_at == at(12, 30, day=11), "others that come put nothing off"
        row.dag = made
        owed = overdue.owed([row], holds.assess([row], now=at(12, 20, day=11)))[row.pk]
        assert {each.expected.at for each in owed} == {at(12, day=11)}
        assert "later round" in owed[0].expected.words
        assert len(owed) == 22

    def test_what_was_wiped_since_is_expected_from_when_the_round_was_opened(self, ingest):
        consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800)
        emit("hourly", *hours(DAY, *range(24)), at=at(23))
        turn(at(23))
        emit("hourly", *hours(DAY, 9), at=at(12, day=11))
        wiping.wipe(world.asset("hourly"), hours(DAY, 22), deed=ALICE, at=at(12, day=11))
        turn(at(12, day=11))
        row = world.held("sum", DAY)
        assert (row.verdict, row.late_at) == ("waiting", at(12, 30, day=11))

    def test_a_round_that_waits_for_a_person_is_never_late(self, ingest):
        consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800, late="hold")
        emit("hourly", *hours(DAY, *range(24)), at=at(23))
        turn(at(23))
        emit("hourly", *hours(DAY, 9), at=at(12, day=11))
        turn(at(12, day=11))
        row = world.held("sum", DAY)
        assert (row.round, row.verdict, row.late_at) == (2, "waiting", None)

    def test_a_dag_that_does_not_say_so_is_never_late_and_asks_nothing(self, ingest):
        consumer("sum", {"hourly": HOURS_TO_DAY})
        emit("hourly", *hours(DAY, 1))
        turn()
        row = world.held("sum", DAY)
        with CaptureQueriesContext(connection) as queries:
            assert overdue.when_late([row], holds.assess([row], now=NOW)) == {row.pk: None}
        assert not [each for each in queries if "outlet" in each["sql"]]

    def test_nobody_knows_when_no_key_has_a_time(self):
        consumer("meet", {"a": IDENTITY, "b": IDENTITY}, late_after=60)
        emit("a", "tw")
        turn()
        assert world.held("meet", "tw").late_at is None

    def test_asks_the_same_for_many_as_for_one(self, day):
        def queries():
            rows = list(HeldRun.objects.held().select_related("dag"))
            verdicts = holds.assess(rows, now=NOW)
            with CaptureQueriesContext(connection) as found:
                overdue.owed(rows, verdicts)
                overdue.when_late(rows, verdicts)
            return len(found)

        few = queries()
        emit("hourly", *(f"2026-03-{number:02}T05:00:00" for number in range(11, 30)))
        turn()
        assert HeldRun.objects.held().count() == 20
        assert queries() == few <= 10
