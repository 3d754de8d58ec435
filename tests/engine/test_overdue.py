"""Held runs that become late: when, noted once, and told once."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from core.models import Alert, Bell, Dag, HeldRun, JournalEntry
from scheduling import holds, overdue, wiping
from tests.engine import world
from tests.engine.world import ALICE, HOURS_TO_DAY, IDENTITY, NOW, consumer, emit, hours, turn
from tests.sdk.writing import Directory

pytestmark = pytest.mark.django_db

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
HALF = timedelta(minutes=30)
DAY = "2026-03-10"


def at(hour, minute=0, day=10):
    return datetime(2026, 3, day, hour, minute, tzinfo=UTC)


MIDNIGHT = at(0)


@pytest.fixture
def ingest(db):
    hourly = {"type": "CronPartitionTimetable", "cron": "0 * * * *"}
    return world.dag("ingest", hourly, writes=["hourly"], start_date=BEGAN, is_paused=True)


@pytest.fixture
def day(ingest):
    """A day of hours that may each be half an hour late; hours 9 and 22 are not there."""
    consumer("sum", {"hourly": HOURS_TO_DAY}, late_after=1800)
    emit("hourly", *hours(DAY, *(n for n in range(24) if n not in (9, 22))), at=at(8))
    turn(at(8))
    return world.held("sum", DAY)


def again(row):
    return HeldRun.objects.get(pk=row.pk)


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


class TestNote:
    def test_sleeps_until_then(self, day):
        assert overdue.note_late(now=at(9, 29)) == 0
        with CaptureQueriesContext(connection) as queries:
            overdue.note_late(now=at(9, 29))
        assert len([each for each in queries if each["sql"].startswith("SELECT")]) == 1

    def test_is_noted_once_in_the_journal(self, day):
        assert overdue.note_late(now=at(9, 30)) == 1
        assert overdue.note_late(now=at(9, 31)) == 0
        entry = JournalEntry.objects.get(event="held run late")
        assert (entry.dag_id, entry.partition_key) == ("sum", DAY)
        assert entry.extra["sentence"] == "waiting on 2 of 24: hours 09, 22"
        assert again(day).late_noted_at == at(9, 30)

    def test_late_again_for_another_key_is_not_told_twice(self, day):
        overdue.note_late(now=at(9, 30))
        emit("hourly", *hours(DAY, 9), at=at(10))
        turn(at(10))
        assert not HeldRun.objects.late(at(10)).exists()
        assert overdue.note_late(now=at(23)) == 0
        assert HeldRun.objects.late(at(23)).count() == 1

    def test_looks_again_whether_it_is_late_by_what_is_true_now(self, day):
        schedule = {"type": "CronPartitionTimetable", "cron": "0 * * * *", "run_offset": -1}
        Dag.objects.filter(dag_id="ingest").update(schedule=schedule, revision=2)
        assert overdue.note_late(now=at(9, 30)) == 1
        row = again(day)
        assert (row.late_noted_at, row.late_at) == (None, at(10) + HALF)

    def test_what_has_fired_or_was_cancelled_is_not_late(self, day):
        holds.cancel(day, deed=ALICE, at=at(9))
        assert overdue.note_late(now=at(12)) == 0
        assert HeldRun.objects.late(at(12)).count() == 0

    def test_takes_no_more_than_it_is_told_to(self, day):
        emit("hourly", *hours("2026-03-09", 1), at=at(8))
        turn(at(8))
        assert overdue.note_late(now=at(12), limit=1) == 1
        assert overdue.note_late(now=at(12), limit=9) == 1


class TestAlert:
    def test_none_is_left_where_nobody_listens(self, day):
        overdue.note_late(now=at(9, 30))
        assert not Alert.objects.exists()

    def test_tells_what_is_missing_and_who_owes_it(self, day, settings):
        settings.ALERT_URL, settings.SITE_URL = "https://pager.example/", "https://partita.example/"
        overdue.note_late(now=at(9, 30))
        alert = Alert.objects.get()
        assert alert.send_after == at(9, 30)
        assert alert.body == {
            "event": "held_run_late",
            "id": day.pk,
            "dag_id": "sum",
            "partition_key": DAY,
            "round": 1,
            "held_since": at(8).isoformat(),
            "late_at": (at(9) + HALF).isoformat(),
            "sentence": "waiting on 2 of 24: hours 09, 22",
            "missing": [
                {
                    "asset": "hourly",
                    "partition_key": key,
                    "expected_at": at(int(key[11:13])).isoformat(),
                    "owed_by": ["ingest"],
                    "sensors": [],
                }
                for key in hours(DAY, 9, 22)
            ],
            "url": f"https://partita.example/held/{day.pk}",
        }

    def test_rings_for_whoever_sends_it(self, day, settings, django_capture_on_commit_callbacks):
        settings.ALERT_URL = "https://pager.example/"
        Bell.objects.all().delete()
        with django_capture_on_commit_callbacks(execute=True):
            overdue.note_late(now=at(9, 30))
        assert Bell.objects.filter(name="send_alerts").count() == (1 if settings.EMBEDDED else 0)
