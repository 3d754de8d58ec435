"""The Dags of the temperatures: what they say of themselves, and what people may do by hand."""

from datetime import UTC, datetime

import pytest

from core.models import Asset, AssetEvent, Dag, DagRun, Partition
from scheduling import demo, events, execution, holds, listening, runs
from scheduling.algebra import specs
from scheduling.events import EventReport
from scheduling.runs import Ask
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.examples.prediction import readings
from tests.examples.replaying import FLAWED, ended, held, now, replay, settle


def ingest(key: str | None = None, **conf) -> DagRun:
    """A person triggers the Dag that ingests; its run, executed."""
    dag = Dag.objects.get(dag_id=demo.INGEST)
    run = world.start(runs.trigger(dag, Ask(partition_key=key, conf=conf), deed=ALICE, at=now()), at=now())
    execution.execute(run, clock=now)
    run.refresh_from_db()
    return run


@pytest.fixture
def flawed_day(examples):
    replay([FLAWED])


@pytest.mark.django_db
class TestDefinitions:
    def test_name_the_night_in_which_an_hour_of_the_source_is_two(self, examples):
        problems = Dag.objects.get(dag_id="daily_temperature").problems
        assert [each["level"] for each in problems] == ["warning"]
        assert "has no %z" in problems[0]["sentence"]
        assert "America/Los_Angeles" in problems[0]["sentence"]

    def test_expect_what_the_source_can_name(self, examples):
        heard = listening.of_dag(Dag.objects.get(dag_id="daily_temperature"))
        [mapper] = heard.listening.mappers.values()
        assert len(mapper.required("seattle|2010-03-14")) == 23
        assert len(mapper.required("seattle|2010-11-07")) == 24
        assert len(mapper.required("seattle|2010-11-08")) == 24

    def test_say_which_keys_there_can_be(self, examples):
        counts = {
            asset.name: specs.load(asset.partitions, "partitions").count(NOW)
            for asset in Asset.objects.exclude(partitions=None)
        }
        # The real hours of the year, two of which have one name: as many as the source has readings.
        assert counts == {
            "hourly_temperature": 2 * 8759,
            "daily_temperature": 2 * 365,
            "monthly_temperature": 2 * 12,
            "all_cities_temperature": 365,
        }


@pytest.mark.django_db
@pytest.mark.usefixtures("flawed_day")
class TestMissingHour:
    def test_is_not_in_the_source(self):
        run = ingest("seattle|2010-03-14T03:00:00")
        assert run.state == "failed"
        assert run.error.endswith("LookupError: seattle-temps.csv has no reading for 2010-03-14T03:00:00")
        assert world.held("daily_temperature", "seattle|2010-03-14").verdict == "waiting"

    def test_may_be_recorded_by_hand(self):
        """Whoever knows the reading gives it, and the day fires for that city alone."""
        report = EventReport(world.asset("hourly_temperature"), "seattle|2010-03-14T03:00:00")
        events.register_events([report], source=AssetEvent.Source.PERSON, deed=ALICE, at=now())
        settle()
        assert ("daily_temperature", "seattle|2010-03-14") in ended()
        assert world.held("daily_temperature", "sf|2010-03-14").verdict == "waiting"

    def test_need_not_keep_the_day_from_being_summed_up(self):
        row = world.held("daily_temperature", "sf|2010-03-14")
        run = holds.fire_now(row, deed=ALICE, at=now())
        assert run.missing_keys == [{"asset": "hourly_temperature", "keys": ["sf|2010-03-14T03:00:00"]}]
        settle()
        assert (
            Partition.objects.get(asset__name="daily_temperature", key="sf|2010-03-14").extra["count"] == 23
        )


@pytest.mark.django_db
@pytest.mark.usefixtures("examples")
class TestRecordedByHand:
    """Nothing was ingested; somebody says over the API which slices are there."""

    def record(self, name: str, *keys: str) -> None:
        world.emit(name, *keys, at=now())
        settle()

    def test_hours_make_a_day(self):
        hours = [f"sf|2010-05-01T{hour:02}:00:00" for hour in range(24)]
        self.record("hourly_temperature", *hours[:23])
        assert held()["daily_temperature", "sf|2010-05-01"] == "waiting on 1 of 24: hour 23"
        self.record("hourly_temperature", hours[23])
        degrees = [each for label, each in readings("sf").items() if label.startswith("2010/05/01")]
        part = world.part("daily_temperature", "sf|2010-05-01")
        assert part.state == "materialized"
        assert (part.extra["min"], part.extra["max"], part.extra["count"]) == (min(degrees), max(degrees), 24)

    def test_days_make_a_month_and_all_cities(self):
        self.record(
            "daily_temperature", *[f"sf|2010-02-{day:02}" for day in range(1, 29)], "seattle|2010-02-01"
        )
        assert world.part("monthly_temperature", "sf|2010-02").extra["count"] == 28 * 24
        assert world.part("all_cities_temperature", "all_cities|2010-02-01").extra["count"] == 48

    def test_a_month_that_is_fired_early_is_made_of_the_days_there_are(self):
        self.record("daily_temperature", *[f"sf|2010-03-{day:02}" for day in range(1, 8)], "sf|2010-02-28")
        holds.fire_now(world.held("monthly_temperature", "sf|2010-03"), deed=ALICE, at=now())
        settle()
        assert world.part("monthly_temperature", "sf|2010-03").extra["count"] == 7 * 24
        [line] = DagRun.objects.get(dag__dag_id="monthly_temperature").log_lines.values_list(
            "text", flat=True
        )
        assert line.startswith("sf|2010-03: 7 days, ")


@pytest.mark.django_db
@pytest.mark.usefixtures("examples")
class TestIngest:
    def test_takes_one_hour_by_its_key(self):
        run = ingest("seattle|2010-07-01T12:00:00")
        assert run.state == "success"
        event = AssetEvent.objects.get(source_run=run)
        assert (event.partition_key, event.extra) == (
            "seattle|2010-07-01T12:00:00",
            {"fahrenheit": readings("seattle")["2010/07/01 12:00"]},
        )
        assert event.partition_date == datetime(2010, 7, 1, 19, tzinfo=UTC)

    def test_takes_a_day_by_its_conf(self):
        run = ingest(city="sf", day="2010-07-01")
        assert AssetEvent.objects.filter(source_run=run).count() == 24

    @pytest.mark.parametrize(
        ("key", "conf"), [(None, {}), ("atlantis|2010-07-01T12:00:00", {}), (None, {"city": "x"})]
    )
    def test_says_what_it_needs(self, key, conf):
        run = ingest(key, **conf)
        assert run.state == "failed"
        assert "say what to take: a partition key such as seattle|2010-03-14T09:00:00, or a conf" in run.error
