"""The replay of the readings: what the files and the calendar predict comes about, whoever drives it."""

import json
import threading
from datetime import date
from statistics import fmean

import pytest
from django.db import connection

from core.models import AssetEvent, DagRun
from scheduling import demo, holds
from scheduling.demo import NoDemo, days_from, parts
from tests.engine import world
from tests.engine.world import ALICE, NOW
from tests.examples.prediction import predicted, readings
from tests.examples.replaying import FLAWED, ended, held, now, replay


def that_never_was(city):
    """The files lack the hour 03 of that night and have the 02 that clocks left out."""
    return (
        f"waiting on 1 of 23: hour 03; unexpected, so not counted: {city}|2010-03-14T02:00:00"
        " (02:00 never was on 2010-03-14 in America/Los_Angeles: the clocks went forward)"
    )


@pytest.mark.django_db
class TestReplay:
    def test_of_the_flawed_week_tells_its_story(self, examples, tmp_path):
        days = days_from(date(2010, 3, 12), 4)
        replay(days)
        assert ended() == predicted(days)
        assert held()["daily_temperature", "seattle|2010-03-14"] == that_never_was("seattle")
        assert held()["daily_temperature", "sf|2010-03-14"] == that_never_was("sf")
        row = world.held("daily_temperature", "seattle|2010-03-14")
        [progress] = holds.assess([row], now=now())[row.pk].progress
        assert progress.missing == ("seattle|2010-03-14T03:00:00",)
        assert progress.unexpected == ("seattle|2010-03-14T02:00:00",)

    def test_writes_real_statistics(self, examples, tmp_path):
        replay(days_from(date(2010, 3, 12), 2))
        for city in ("seattle", "sf"):
            degrees = [each for label, each in readings(city).items() if label.startswith("2010/03/12")]
            summary = {
                "min": min(degrees),
                "mean": round(fmean(degrees), 2),
                "max": max(degrees),
                "count": 24,
            }
            assert json.loads((tmp_path / "demo" / "daily" / city / "2010-03-12.json").read_text()) == summary
            assert world.part("daily_temperature", f"{city}|2010-03-12").extra == summary
        both = json.loads((tmp_path / "demo" / "all_cities" / "2010-03-12.json").read_text())
        degrees = [
            each
            for city in ("seattle", "sf")
            for label, each in readings(city).items()
            if label[:10] == "2010/03/12"
        ]
        assert (both["min"], both["max"], both["count"]) == (min(degrees), max(degrees), 48)
        assert both["mean"] == pytest.approx(fmean(degrees), abs=0.01)

    def test_of_the_autumn_night_expects_24_hours(self, examples):
        days = [date(2010, 11, 7)]
        replay(days)
        assert ended() == predicted(days)
        assert ended()["daily_temperature", "seattle|2010-11-07"] == 1

    def test_of_a_month_ends_with_the_month(self, examples):
        days = days_from(date(2010, 2, 1), 28)
        replay(days)
        assert ended() == predicted(days)
        summary = world.part("monthly_temperature", "sf|2010-02").extra
        degrees = [each for label, each in readings("sf").items() if label.startswith("2010/02")]
        assert (summary["min"], summary["max"], summary["count"]) == (min(degrees), max(degrees), 28 * 24)
        assert summary["mean"] == pytest.approx(fmean(degrees), abs=0.01)

    @pytest.mark.slow
    @pytest.mark.sqlite
    def test_of_the_year_ends_with_what_the_files_predict(self, examples):
        days = days_from(date(2010, 1, 1), 365)
        replay(days)
        assert ended() == predicted(days)
        assert ended().total() == 730 + 728 + 22 + 364
        assert held() == {
            ("daily_temperature", "seattle|2010-03-14"): that_never_was("seattle"),
            ("daily_temperature", "sf|2010-03-14"): that_never_was("sf"),
            ("monthly_temperature", "seattle|2010-03"): "waiting on 1 of 31: day 14",
            ("monthly_temperature", "sf|2010-03"): "waiting on 1 of 31: day 14",
        }
        assert AssetEvent.objects.filter(asset__name="hourly_temperature").count() == 2 * 8759

    def test_needs_the_definitions(self, db):
        with pytest.raises(NoDemo, match="no active Dag is called ingest_temperatures"):
            demo.replay(parts([FLAWED]), deed=ALICE, at=NOW)


@pytest.mark.django_db
class TestBegin:
    def test_queues_the_first_days_once(self, examples):
        assert demo.begin(at=NOW) == 16
        assert demo.begin(at=NOW) == 0
        confs = DagRun.objects.filter(dag__dag_id=demo.INGEST).values_list("conf", flat=True)
        assert {(conf["city"], conf["day"]) for conf in confs} == {
            (city, f"2010-03-{day:02}") for city in ("seattle", "sf") for day in range(8, 16)
        }

    def test_leaves_an_installation_without_examples_alone(self, db):
        assert demo.begin(at=NOW) == 0


@pytest.mark.django_db(transaction=True)
def test_several_may_drive_one_replay(examples):
    """As when the command runs beside an engine: nothing is left over, and nothing is done twice."""
    days = days_from(date(2010, 3, 13), 2)
    demo.replay(parts(days), deed=ALICE, at=now())
    failures = []

    def drive(worker: str) -> None:
        try:
            while demo.turn(worker=worker, clock=now) or not demo.is_settled():
                pass
        except Exception as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=drive, args=(f"w{number}",)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert failures == []
    assert ended() == predicted(days)
